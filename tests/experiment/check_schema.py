#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/experiment.schema.json against the project's inputs and against files good and bad.

Usage: check_schema.py PROJECT_FOLDER. Needs python3-yaml and python3-jsonschema.
"""
import json
import pathlib
import sys

import jsonschema
import yaml


def main() -> int:
    project = pathlib.Path(sys.argv[1])
    schema = json.loads((project / "docs/experiment.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = 0

    def check(label: str, document: object, expected: bool) -> None:
        nonlocal failures
        if validator.is_valid(document) == expected:
            return
        failures += 1
        errors = "; ".join(error.message for error in validator.iter_errors(document))
        print(f"{label}: {'refused: ' + errors if expected else 'accepted'}: {document}")

    inputs = sorted((project / "inputs").glob("*.yaml"))
    for file in inputs:
        check(file.name, yaml.safe_load(file.read_text()), True)
        if "# yaml-language-server: $schema=../docs/experiment.schema.json" not in file.read_text().splitlines():
            failures += 1
            print(f"{file.name}: does not name its schema")
    checked = len(inputs)
    for name, expected in (("good", True), ("bad", False)):
        documents = list(yaml.safe_load_all((project / f"tests/experiment/schema/{name}.yaml").read_text()))
        for number, document in enumerate(documents, 1):
            check(f"{name}.yaml, document {number}", document, expected)
        checked += len(documents)

    print(f"{checked} experiments checked, {failures} wrong")
    return 1 if failures or not inputs or checked < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
