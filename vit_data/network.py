"""Is a server there? Asked before a download, so that a machine without a network hears it in a second."""

from __future__ import annotations

import ssl
import threading
import urllib.error
import urllib.request

PATIENCE = 1.2  # seconds; name look-ups have no time limit of their own, so the whole question gets one


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None  # a redirect is answer enough


def why_unreachable(url: str, patience: float = PATIENCE) -> str | None:
    """None if a server answers for ``url`` within ``patience`` seconds, else the reason in a few words.

    One HEAD request, through the proxies that the environment names. The answer's content does not matter, except
    that a proxy's refusal counts as no network.
    """
    answer: list[str | None] = ["no answer"]

    def ask() -> None:
        try:
            request = urllib.request.Request(url, method="HEAD")
            urllib.request.build_opener(_NoRedirect).open(request, timeout=patience).close()
            answer[0] = None
        except urllib.error.HTTPError as error:
            answer[0] = f"the answer was {error.code} {error.reason}" if error.code in (403, 407) or error.code >= 500 else None
        except urllib.error.URLError as error:
            # the download itself may know other certificates
            answer[0] = None if isinstance(error.reason, ssl.SSLError) else str(getattr(error.reason, "strerror", None) or error.reason)
        except (OSError, ValueError) as error:
            answer[0] = str(error) or "no answer"

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(patience)
    return answer[0]
