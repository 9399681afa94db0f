from g10c.compiler import rule_function


@rule_function
def bytes(tensor):
    return 3
