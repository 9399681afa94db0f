from g10c.compiler import rule_function


@rule_function
def bytes(tensor):  # noqa: A001 - the mistake that is told of
    return 3
