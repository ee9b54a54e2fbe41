"""Run by the Cloud SDK's own Python: what gcloud's loader says of texts.

Reads lines of JSON, [SDK folder] first and then ["cron" | "dispatch", text] each;
answers each text with a line, null or the error.
"""

import json
import sys
import types
import warnings


def main() -> None:
    sdk = json.loads(sys.stdin.readline())[0]
    sys.path[:0] = [f"{sdk}/lib", f"{sdk}/lib/third_party"]
    warnings.simplefilter("ignore")
    from googlecloudsdk.api_lib.tasks import (  # noqa: PLC0415 - found just now
        app_deploy_migration_util as deploy,
    )
    from googlecloudsdk.appengine.api import (  # noqa: PLC0415 - likewise
        croninfo,
        dispatchinfo,
    )

    for line in sys.stdin:
        kind, text = json.loads(line)
        error = None
        try:
            if kind == "cron":
                loaded = croninfo.LoadSingleCron(text)
                deploy.ValidateCronYamlFileConfig(types.SimpleNamespace(parsed=loaded))
            else:
                dispatchinfo.LoadSingleDispatch(text)
        except Exception as raised:  # noqa: BLE001 - whatever gcloud refuses it with
            error = f"{type(raised).__name__}: {raised}"[:300]
        sys.stdout.write(json.dumps(error) + "\n")


if __name__ == "__main__":
    main()
