"""Asks the installed public rule set, one JSON document per line.

rules FOLDER        prints each rule as [id, pattern]
scan FOLDER < texts prints for each text its findings, as [rule, secret, shown by itself]

FOLDER keeps the compiled rules. Nothing here opens a connection: the SDK scans in this process.
"""

import json
import sys

from kingfisher_sdk import Rules, Scanner

task, folder = sys.argv[1:]
rules = Rules(cache_dir=folder)
if task == "rules":
    for rule in rules.metadata():
        print(json.dumps([rule["id"], rules.detail(rule["id"])["pattern"]]))
else:
    scanner = Scanner(rules)
    for line in sys.stdin:
        found = scanner.scan(json.loads(line))
        print(json.dumps([[f.rule_id, f.secret, f.visible] for f in found]))
