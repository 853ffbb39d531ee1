"""The functions that the demo model can write, each with what its test asserts."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownFunction:
    """The source of a function, and expressions that are true of it."""

    source: str
    claims: tuple[str, ...]


_FUNCTIONS = '''
def add(a, b):
    """Return the sum of two numbers."""
    return a + b

- add(2, 3) == 5
- add(-1, 1) == 0

def subtract(a, b):
    """Return what is left of `a` without `b`."""
    return a - b

- subtract(5, 3) == 2
- subtract(3, 5) == -2

def multiply(a, b):
    """Return the product of two numbers."""
    return a * b

- multiply(2, 3) == 6
- multiply(7, 0) == 0

def divide(a, b):
    """Return `a` divided by `b`."""
    return a / b

- divide(6, 3) == 2
- divide(1, 4) == 0.25

def square(number):
    """Return a number times itself."""
    return number * number

- square(4) == 16
- square(-3) == 9

def cube(number):
    """Return a number to the power of three."""
    return number**3

- cube(2) == 8
- cube(-1) == -1

def average(numbers):
    """Return the mean of some numbers, of which there is at least one."""
    return sum(numbers) / len(numbers)

- average([1, 2, 3]) == 2
- average([5]) == 5

def maximum(numbers):
    """Return the largest of some numbers, of which there is at least one."""
    largest = numbers[0]
    for number in numbers:
        if number > largest:
            largest = number
    return largest

- maximum([3, 8, 5]) == 8
- maximum([-2, -7]) == -2

def minimum(numbers):
    """Return the smallest of some numbers, of which there is at least one."""
    smallest = numbers[0]
    for number in numbers:
        if number < smallest:
            smallest = number
    return smallest

- minimum([3, 8, 5]) == 3
- minimum([-2, -7]) == -7

def is_even(number):
    """Return whether a whole number can be divided by two."""
    return number % 2 == 0

- is_even(4)
- not is_even(7)
- is_even(0)

def is_odd(number):
    """Return whether a whole number cannot be divided by two."""
    return number % 2 == 1

- is_odd(7)
- not is_odd(4)

def is_prime(number):
    """Return whether a whole number has no divisors but one and itself."""
    if number < 2:
        return False
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1
    return True

- is_prime(2)
- is_prime(13)
- not is_prime(1)
- not is_prime(9)

def factorial(number):
    """Return the product of the whole numbers from one to `number`."""
    if number < 0:
        raise ValueError("a negative number has no factorial")
    product = 1
    for factor in range(2, number + 1):
        product *= factor
    return product

- factorial(0) == 1
- factorial(5) == 120

def fibonacci(position):
    """Return the Fibonacci number at a position; the first are 0, 1, 1 and 2."""
    if position < 0:
        raise ValueError("a position is not negative")
    number, following = 0, 1
    for _ in range(position):
        number, following = following, number + following
    return number

- [fibonacci(position) for position in range(7)] == [0, 1, 1, 2, 3, 5, 8]
- fibonacci(20) == 6765

def gcd(a, b):
    """Return the greatest common divisor of two whole numbers."""
    while b:
        a, b = b, a % b
    return abs(a)

- gcd(12, 18) == 6
- gcd(7, 5) == 1

def greet(name):
    """Return a greeting for someone."""
    return f"Hello, {name}!"

- greet("Ada") == "Hello, Ada!"

def reverse(text):
    """Return a text from its end to its beginning."""
    return text[::-1]

- reverse("abc") == "cba"
- reverse("") == ""

def is_palindrome(text):
    """Return whether the letters of a text are the same from both ends."""
    letters = [letter.lower() for letter in text if letter.isalnum()]
    return letters == letters[::-1]

- is_palindrome("Never odd or even")
- not is_palindrome("palindrome")

def count_words(text):
    """Return how many words a text has."""
    return len(text.split())

- count_words("one two  three") == 3
- count_words("") == 0
'''
_ENTRY = re.compile(r"^(def (\w+)\(.*?)\n\n((?:- [^\n]+\n)+)", re.DOTALL | re.MULTILINE)

KNOWN_FUNCTIONS = {
    name: KnownFunction(f"{source}\n", tuple(line[2:] for line in claims.splitlines()))
    for source, name, claims in _ENTRY.findall(_FUNCTIONS)
}
"""By name."""


def write_function(name: str) -> str:
    """Return the source of a function; of one that is not known, a place for it."""
    known = KNOWN_FUNCTIONS.get(name)
    if known is not None:
        return known.source
    return (
        f"def {name}(*arguments):\n"
        '    """Still to be written."""\n'
        f'    raise NotImplementedError("{name} is still to be written")\n'
    )


def write_test(name: str, module: str, *, imports: bool) -> str:
    """Return the source of the test of a function.

    Args:
        name: The function.
        module: The module that it is in.
        imports: Whether the test itself imports the module.
    """
    lines = [f"def test_{name}():"]
    lines += [f"    import {module}\n"] if imports else []
    known = KNOWN_FUNCTIONS.get(name)
    if known is None:
        lines.append(f"    {module}.{name}()  # this test is still to be written, too")
    else:
        called = re.compile(rf"\b{name}\(")
        lines += [f"    assert {called.sub(f'{module}.{name}(', each)}" for each in known.claims]
    return "\n".join(lines) + "\n"
