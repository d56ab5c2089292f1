"""erf(x/√2) = tanh(x · P(x²)): the coefficients of P, lowest first. A least-squares fit, reweighted
until the largest relative error is smallest: 1e-7, and 3e-7 with rounding in single precision.
"""

ERF = (
    0.79788464,
    0.036334347,
    -3.3910554e-05,
    -5.4782166e-05,
    3.8731691e-06,
    -1.2526881e-07,
    1.5677132e-09,
)
