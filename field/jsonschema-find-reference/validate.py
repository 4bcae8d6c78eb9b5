import sys
from jsonschema import Draft7Validator

TYPES = 60
definitions = {}
for i in range(TYPES):
    properties = {f"text{j}": {"type": "string", "maxLength": 40} for j in range(6)}
    for side, factor in (("left", 7), ("right", 11)):
        properties[side] = {"$ref": f"#/definitions/type{(i * factor + 1) % TYPES}"}
    definitions[f"type{i}"] = {"type": "object", "properties": properties}
schema = {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": definitions, "$ref": "#/definitions/type0"}


def document(depth):
    result = {f"text{j}": "some text" for j in range(6)}
    if depth:
        result["left"] = document(depth - 1)
        result["right"] = document(depth - 1)
    return result


validator = Draft7Validator(schema)
order = document(7)
errors = 0
for _ in range(int(sys.argv[1])):
    errors += sum(1 for _ in validator.iter_errors(order))
print(errors, "errors")
