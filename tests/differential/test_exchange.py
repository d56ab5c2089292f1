"""Tensors beside Python and NumPy, as in PyTorch: numbers, arrays, buffers, DLPack, copies and
pickles. The same expressions on both, with their values, sharing and errors.
"""

import array
import copy
import operator
import pickle
import warnings

import numpy as np
import pytest

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)

EXPRESSIONS = r"""
torch.arange(3.0) ** np.ones(3)
np.ones(3) ** torch.ones(3)
torch.arange(3) // np.ones(3)
torch.arange(3.0) ** [1]
torch.tensor([[1, 2], 3])
torch.tensor([1, [2]])
torch.tensor([1.0, [2]])
torch.tensor([[[1, 2], [3]], [[4], [5]]])
torch.tensor([np.ones(2), np.ones(3)])
torch.tensor([np.float32(1), 2])
torch.tensor([np.float16(1), 2.0])
torch.tensor([True, np.int8(3)])
torch.tensor([1, 2], dtype="float32")
torch.tensor(np.arange(3, dtype=">i4"))
torch.Tensor(np.ones(2))
torch.Tensor(torch.arange(3))
torch.Tensor(torch.Size([2, 3])).shape
torch.Tensor(np.int64(2)).shape
torch.Tensor(np.float32(2))
torch.Tensor(True)
torch.Size([2, 3]) * 2, 2 * torch.Size([1]), (1,) + torch.Size([2])
torch.Size([1]) + [2]
torch.arange(np.int64(3))
np.float32(1) in torch.ones(2)
torch.tensor([1, 2]) in torch.ones(3)
torch.ones(2).__dlpack__(stream=5)
torch.ones(2, device="meta").__dlpack_device__()
np.from_dlpack(torch.arange(3.))
torch.from_dlpack(np.arange(3.))
share_dlpack()
torch.from_dlpack(ro())
torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.arange(3)))
torch.from_dlpack(torch.utils.dlpack.to_dlpack(torch.arange(3)))
torch.arange(3.,requires_grad=True).__dlpack__()
tuple(map(int, torch.ones(1).__dlpack_device__()))
torch.from_dlpack(5)
torch.from_dlpack([1.,2.])
torch.from_dlpack(np.array(['a']))
torch.from_dlpack(np.ones((2,3)).T).stride()
torch.from_dlpack(torch.ones(2,3,dtype=torch.bfloat16)).dtype
torch.from_dlpack(torch.ones(2,dtype=torch.bool)).dtype
torch.ones(2,dtype=torch.bfloat16).__dlpack__() is not None
torch.from_dlpack(np.ones(2), copy=True)
torch.from_dlpack(np.ones(2), device='cpu')
torch.utils.dlpack.DLDeviceType.kDLCPU
torch.to_dlpack(torch.ones(2)) is not None
torch.ones(2).__array__()
torch.ones(2).__array__(np.float64).dtype
torch.ones(2,requires_grad=True).__array__()
np.asarray(torch.ones(2))
np.asarray(torch.ones(2), dtype=np.int32)
np.array(torch.ones(2), copy=False) is not None
np.asarray(torch.ones(2,requires_grad=True))
np.array([torch.ones(2),torch.ones(2)])
np.sin(torch.ones(2))
type(np.sin(torch.ones(2))).__name__
np.add(torch.ones(2), torch.ones(2))
type(np.add(torch.ones(2), torch.ones(2))).__name__
np.add(np.ones(2), torch.ones(2))
np.sum(torch.ones(2,3))
np.sum(torch.ones(2,3), axis=1)
np.mean(torch.ones(2,3))
np.max(torch.ones(2,3))
np.concatenate([torch.ones(2),torch.ones(2)])
np.stack([torch.ones(2),torch.ones(2)])
np.dot(torch.ones(2),torch.ones(2))
np.matmul(torch.ones(2,2),torch.ones(2,2))
np.multiply.reduce(torch.ones(2,2))
np.sin(torch.ones(2,requires_grad=True))
np.sum(torch.ones(2,requires_grad=True))
np.argmax(torch.ones(3))
np.where(torch.ones(2)>0, 1, 2)
np.transpose(torch.ones(2,3))
np.reshape(torch.ones(2,3), 6)
np.clip(torch.ones(3), 0, 1)
np.any(torch.ones(3)>0)
np.shape(torch.ones(2,3))
np.ndim(torch.ones(2,3))
np.ones(2) + torch.ones(2)
np.ones(2,dtype=np.float32) * torch.ones(2)
torch.ones(2) + np.ones(2)
torch.ones(2) * np.float64(2)
np.float64(2) * torch.ones(2)
np.float32(2) + torch.arange(3)
np.int64(2) + torch.ones(2)
np.ones(2) - torch.ones(2,requires_grad=True)
np.ones((2,2)) @ torch.ones(2,2,dtype=torch.float64)
torch.ones(2,2,dtype=torch.float64) @ np.ones((2,2))
np.ones(2) == torch.ones(2)
torch.ones(2) == np.ones(2)
np.float64(1) < torch.ones(2)
torch.ones(2).__array_priority__
np.ones(3)[torch.tensor([0,2])]
np.ones((3,3))[torch.tensor(1)]
np.ones(3)[torch.tensor([True,False,True])]
setnp()
torch.ones(2).__cuda_array_interface__
hasattr(torch.ones(2),'__cuda_array_interface__')
hasattr(torch.ones(2),'__array_interface__')
memoryview(torch.ones(2))
bytes(torch.tensor([1,2],dtype=torch.uint8))
bytearray(torch.tensor([1,2],dtype=torch.uint8))
torch.from_numpy(5)
torch.from_numpy([1,2])
torch.from_numpy(np.float32(1))
share_from()
torch.from_numpy(np.arange(3)[::-1])
torch.from_numpy(np.array(['a']))
torch.from_numpy(np.array([None]))
torch.from_numpy(np.arange(3,dtype='>i4'))
torch.from_numpy(np.arange(3,dtype=np.uint16))
torch.from_numpy(np.arange(3,dtype=np.uint64))
torch.from_numpy(np.arange(3,dtype=np.longdouble))
torch.from_numpy(np.zeros(2,dtype='datetime64[s]'))
torch.from_numpy(np.zeros(2,dtype=[('a',int)]))
torch.from_numpy(np.ones((2,3))[:, ::2]).stride()
torch.from_numpy(np.array(3.))
torch.from_numpy(np.ones((0,3)))
torch.from_numpy(np.lib.stride_tricks.as_strided(np.zeros(8,np.uint8)[1:].view(), (1,), (1,)))
torch.from_numpy(odd_stride())
torch.ones(2).numpy()
torch.ones(2,requires_grad=True).numpy()
torch.ones(2,requires_grad=True).numpy(force=True)
(torch.ones(2,requires_grad=True)*2).numpy()
torch.ones(2,dtype=torch.bfloat16).numpy()
share_numpy()
torch.ones(2,dtype=torch.complex64).conj().numpy()
torch.ones(2,3).t().numpy().strides
torch.frombuffer(bytearray(b'abcd'),dtype=torch.uint8)
torch.frombuffer(b'abcd',dtype=torch.uint8)
torch.frombuffer(bytearray(b'abcdefgh'),dtype=torch.int32)
torch.frombuffer(bytearray(b'abcdefgh'),dtype=torch.int16,count=2,offset=2)
torch.frombuffer(bytearray(b''),dtype=torch.int32)
torch.frombuffer(bytearray(b'abcde'),dtype=torch.int32)
torch.frombuffer(bytearray(b'abcd'),dtype=torch.int32,count=3)
torch.frombuffer(bytearray(b'abcd'),dtype=torch.int32,count=0)
torch.frombuffer(bytearray(b'abcd'),dtype=torch.int32,offset=9)
torch.frombuffer(bytearray(b'abcd'),dtype=torch.int32,offset=2)
torch.frombuffer([1,2],dtype=torch.int32)
torch.frombuffer(array.array('i',[1,2]),dtype=torch.int32)
torch.frombuffer(bytearray(b'abcd'),dtype=torch.float32,requires_grad=True).requires_grad
torch.frombuffer(bytearray(b'abcd'),dtype=torch.int32,requires_grad=True)
torch.frombuffer(bytearray(b'abcd'))
share_buffer()
torch.asarray([1,2.5])
torch.asarray(np.ones(2))
torch.asarray(np.ones(2),dtype=torch.float32)
torch.asarray(torch.ones(2,requires_grad=True)).requires_grad
torch.asarray(torch.ones(2),requires_grad=True).requires_grad
torch.asarray(np.ones(2),copy=True)
torch.asarray([1],copy=False)
torch.asarray(bytearray(b'abcd'),dtype=torch.uint8)
torch.asarray(array.array('f',[1.,2.]),dtype=torch.float32)
torch.asarray(array.array('f',[1.,2.]))
torch.asarray('a')
torch.asarray(None)
torch.asarray(5)
torch.asarray(np.float64(5))
torch.asarray(torch.ones(2,requires_grad=True)*2).is_leaf
torch.as_tensor(np.float32(5))
torch.as_tensor([1,2])
torch.as_tensor(range(3))
torch.as_tensor(array.array('i',[1,2]))
torch.as_tensor(np.ones(2),dtype=torch.int32)
torch.as_tensor(torch.ones(2,requires_grad=True)*1).requires_grad
share_as()
torch.tensor(np.ones((2,2)))
torch.tensor([np.ones(2),np.zeros(2)])
torch.tensor([torch.tensor(1),torch.tensor(2.)])
torch.tensor([torch.tensor(1.),2.5])
torch.tensor([torch.tensor(1.,dtype=torch.float16),2])
torch.tensor([torch.ones(2),torch.ones(2)])
torch.tensor([torch.tensor([1,2])])
torch.tensor(np.ones(3)[::-1])
torch.tensor(['a'])
torch.ones(2).new_zeros(-1)
torch.randn(-1)
torch.zeros()
torch.arange(0.5,4,1.5,dtype=torch.int32)
torch.bernoulli(torch.tensor([2.]))
torch.ones(3,4)[[[0,1],[1,2]]]
torch.ones(3,4)['a':]
torch.ones(3,4)[torch.tensor([0],dtype=torch.int16)]
torch.ones(3).int().__setitem__(0,float('nan'))
torch.ones(2).copy_(3)
torch.tensor(memoryview(b'abc'))
torch.tensor(b'abc')
torch.tensor((x for x in [1,2]))
torch.tensor({1})
torch.tensor(Arr())
torch.as_tensor(Arr())
torch.tensor(Seq())
len(torch.ones(2,3))
len(torch.tensor(1.))
list(torch.tensor([1,2]))
list(torch.ones(2,2))
iter(torch.tensor(1.))
1. in torch.ones(2)
'a' in torch.ones(2)
torch.ones(1) in torch.ones(2)
[1] in torch.ones(2)
None in torch.ones(2)
operator.index(torch.tensor(3))
operator.index(torch.tensor(3.))
operator.index(torch.tensor([3]))
operator.index(torch.tensor([3,4]))
operator.index(torch.tensor(True))
[1,2,3][torch.tensor(1)]
range(torch.tensor(3))
bool(torch.tensor([]))
bool(torch.ones(2))
bool(torch.tensor(0.))
bool(torch.tensor([[1]]))
bool(torch.tensor(1j))
int(torch.tensor(3.7))
int(torch.tensor([3]))
int(torch.tensor([3,4]))
int(torch.tensor(float('nan')))
int(torch.tensor(float('inf')))
int(torch.tensor(1j))
float(torch.tensor(3))
float(torch.tensor([]))
float(torch.tensor([1.,2.]))
float(torch.tensor(1j))
float(torch.tensor(1+0j))
complex(torch.tensor(3))
complex(torch.tensor([1.,2.]))
float(torch.tensor(2.,requires_grad=True))
round(torch.tensor(2.567),2)
round(torch.tensor(2.5))
divmod(torch.tensor(7),2)
torch.ones(2).item()
torch.ones(1,1).item()
torch.tensor([]).item()
torch.tensor(1j).item()
torch.tensor(2,dtype=torch.bfloat16).item()
torch.ones(2,dtype=torch.bfloat16).tolist()
torch.tensor(3).tolist()
hash(torch.ones(1)) is not None
torch.ones(2) == None
torch.ones(2) != None
torch.ones(2) == 'a'
torch.ones(2) < None
torch.ones(2) + None
torch.ones(2) + 'a'
None + torch.ones(2)
[1,2] + torch.ones(2)
torch.ones(2) * [1,2]
pickle.loads(pickle.dumps(torch.arange(3.)))
pickle.loads(pickle.dumps(torch.arange(3.,requires_grad=True))).requires_grad
pick_shared()
pickle.loads(pickle.dumps(torch.nn.Parameter(torch.ones(2))))
pickle.loads(pickle.dumps(torch.ones(2,3).t())).stride()
pickle.loads(pickle.dumps(torch.float32)) is torch.float32
pickle.loads(pickle.dumps(torch.device('cpu')))
pickle.loads(pickle.dumps(torch.Size([1,2])))
attr_pickle()
copy.copy(torch.ones(2,requires_grad=True)).requires_grad
copy_shared()
copy.copy(torch.ones(2,requires_grad=True)*2)
copy.deepcopy(torch.ones(2,requires_grad=True)*2)
copy.deepcopy(torch.ones(2,requires_grad=True)).requires_grad
deep_grad()
deep_shared()
deep_view()
copy.deepcopy(torch.ones(2,3).t()).stride()
type(copy.deepcopy(torch.nn.Parameter(torch.ones(2)))).__name__
deep_attr()
sorted([torch.tensor(3),torch.tensor(1)])
sum([torch.tensor(3),torch.tensor(1)])
max(torch.tensor([1,5,2]))
torch.tensor([1,2]).__reversed__()
list(reversed(torch.tensor([1,2])))
abs(torch.tensor(-1))
torch.ones(2)[np.int64(1)]
torch.ones(3)[np.array([0,1])]
torch.ones(3)[np.array([True,False,True])]
torch.ones(2,3)[np.array(1)]
torch.ones(3)[[True,False,True]]
torch.full((2,), np.float32(3))
torch.ones(np.int64(2))
torch.zeros((np.int64(2),3)).shape
torch.ones(2).reshape(np.int64(2),1).shape
torch.ones(2).sum(np.int64(0))
torch.ones(2).to('cpu').device
torch.ones(2).cpu() is None
torch.Size([1,2]) + (3,)
torch.tensor([1,2]).numpy().dtype
f"{torch.tensor(3.14159):.2f}"
f"{torch.ones(2):.2f}"
'%d' % torch.tensor(3)
'%.2f' % torch.tensor(3.14)
"{}".format(torch.ones(1))
torch.ones(2).__format__('')
""".strip().splitlines()
DIFFERENT = {
    "torch.ones(2,dtype=torch.bfloat16).__dlpack__() is not None": "NumPy exports no bfloat16",
    "np.array(torch.ones(2), copy=False) is not None": "the array is shared here; PyTorch cannot",
    "np.sum(torch.ones(2,3))": "our sum takes axis=None",
    "np.sum(torch.ones(2,3), axis=1)": "our sum takes axis=None",
    "np.mean(torch.ones(2,3))": "our mean takes axis=None",
    "np.sum(torch.ones(2,requires_grad=True))": "our sum takes axis=None",
    "torch.ones(2,dtype=torch.complex64).conj().numpy()": "conj is computed at once here",
}


class HasArray:
    """Nothing but ``__array__``."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(2.0)


class HasItems:
    """A sequence that is no list."""

    def __len__(self):
        return 2

    def __getitem__(self, k):
        if k > 1:
            raise IndexError
        return k


def read_only():
    a = np.arange(3.0)
    a.flags.writeable = False
    return a


def helpers(torch):
    """What an expression may call: small programs that say what shares memory with what."""

    def share_dlpack():
        a = np.zeros(2)
        t = torch.from_dlpack(a)
        t[0] = 5
        return a.tolist(), np.from_dlpack(t).tolist()

    def share_from():
        a = np.zeros(2)
        t = torch.from_numpy(a)
        t[0], a[1] = 5, 6
        return a.tolist(), t.tolist()

    def share_numpy():
        t = torch.zeros(2)
        a = t.numpy()
        a[0] = 3
        t.add_(1)
        return a.tolist(), t.tolist(), a.flags.writeable

    def share_buffer():
        b = bytearray(4)
        torch.frombuffer(b, dtype=torch.uint8)[0] = 7
        return b[0]

    def share_as():
        a = np.zeros(2)
        torch.as_tensor(a)[0] = 1
        torch.asarray(a)[1] = 2
        return a.tolist()

    def setnp():
        a = np.zeros(3)
        a[0] = torch.tensor(2.0)
        a[1:] = torch.ones(2)
        return a.tolist()

    def pick_shared():
        t = torch.zeros(4)
        a, b = pickle.loads(pickle.dumps((t, t[:2])))
        a[0] = 9
        return b.tolist()

    def attr_pickle():
        t = torch.ones(1)
        t.note = "x"
        return getattr(pickle.loads(pickle.dumps(t)), "note", None)

    def copy_shared():
        t = torch.zeros(2)
        copy.copy(t)[0] = 1
        return t.tolist()

    def deep_grad():
        t = torch.ones(2, requires_grad=True)
        t.sum().backward()
        return copy.deepcopy(t).grad

    def deep_shared():
        t = torch.zeros(4)
        a, b = copy.deepcopy([t, t[:2]])
        a[0] = 9
        return b.tolist()

    def deep_view():
        c = copy.deepcopy(torch.zeros(4)[1:])
        return c.storage_offset(), c.untyped_storage().nbytes()

    def deep_attr():
        t = torch.ones(1)
        t.note = [1]
        d = copy.deepcopy(t)
        return d.note, d.note is t.note

    return {
        **locals(),
        "np": np,
        "array": array,
        "copy": copy,
        "operator": operator,
        "pickle": pickle,
        "ro": read_only,
        "odd_stride": lambda: np.ndarray((2,), np.int32, bytearray(12), 0, (6,)),
        "Arr": HasArray,
        "Seq": HasItems,
    }


def shown(value):
    if hasattr(value, "requires_grad"):
        detached = value.detach()
        return [str(value.dtype), tuple(value.shape), detached.tolist(), value.requires_grad]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, value.tolist()]
    if isinstance(value, (list, tuple)):
        return [shown(x) for x in value]
    return repr(value).replace("gradviz", "torch")


def outcome(engine, expression):
    """What an expression gives or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(shown(eval(expression, helpers(engine))))  # noqa: S307
        except Exception as error:  # noqa: BLE001
            return type(error).__name__, str(error).replace("gradviz.", "torch.")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_in_pytorch(expression):
    expected, found = outcome(torch, expression), outcome(gradviz, expression)
    assert (found == expected) == (expression not in DIFFERENT), (expected, found)
