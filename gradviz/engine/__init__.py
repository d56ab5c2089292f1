"""The engine: tensors, graph, sweep. Imports nothing of gradviz above itself."""
