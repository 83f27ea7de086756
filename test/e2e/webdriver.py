# SPDX-License-Identifier: MIT
"""Common code for pages of Firefox and WebKit: JavaScript in the page over WebDriver. A subclass has script(code, *args), which runs a
function body whose last argument is a callback for [success, value], image(), a screenshot in base64, and close()."""
import base64

from procs import wait_for

EVAL = "const [code, done] = arguments; (async () => window.eval(code))()"
THEN = ".then(v => done([true, v]), e => done([false, String(e)]));"


class Page:
    def run(self, code):
        """Evaluates statements, and returns the value of the last one. Pages with a content security policy forbid it: use value()."""
        return self._good(self.script(EVAL + THEN, code))

    def value(self, expression):
        return self._good(self.script(f"const done = arguments[0]; (async () => ({expression}))()" + THEN))

    def _good(self, answer):
        assert answer[0], answer[1]
        return answer[1]

    def wait(self, code, timeout=10.0):
        return wait_for(lambda: self.run(code), timeout, 0.1)

    def wait_value(self, expression, timeout=10.0):
        return wait_for(lambda: self.value(expression), timeout, 0.1)

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.image()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
