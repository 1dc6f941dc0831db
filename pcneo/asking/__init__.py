"""Asking a service from an application: a request is placed and waited for (DATA-MODEL.md#requests).

Nothing here computes, so that an application that asks loads no compiled code: no numba, no kernels.
"""
