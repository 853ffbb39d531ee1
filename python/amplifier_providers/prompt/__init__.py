"""The beginnings of requests, which caches of services keep: their blocks, changes and predictions."""
