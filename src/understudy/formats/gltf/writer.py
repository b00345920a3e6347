"""x"""


def write(asset, path):
    return []
