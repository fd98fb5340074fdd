#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of `flashpad report` in a headless Chromium, from a file, as a user opens it.

usage: browser_test.py build/flashpad    (exit code 77: no Selenium or no Chromium, and it says which)
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">\"'&\u202eevil " + "long" * 60


def row(kernel, n, seconds, dtype="fp32", **more):
    flops = 4 * 64 * 4 * n * n
    base = {"case": f"b1_h4_n{n}_d64_{dtype}_none_{kernel}", "kernel": kernel, "backend": "openmp", "engine": None,
            "dtype": dtype, "batch": 1, "heads": 4, "kv_heads": 4, "seq_q": n, "seq_k": n, "head_dim": 64, "value_dim": 64,
            "mask": "none", "layout": "bhnd", "tile": None if kernel == "naive" else "64x64", "status": "ok", "reason": None,
            "median_s": seconds, "spread": 0.01, "repetitions": 10, "flops": flops, "tflops": flops / seconds / 1e12,
            "bytes_model": n * 1e3, "intensity": flops / (n * 1e3), "roof": "compute", "roof_fraction": 0.3,
            "max_abs_err": 1e-7, "tolerance": 1e-5, "verified": True, "speedup_vs_naive": 1 if kernel == "naive" else 2,
            "byte_ratio": 1 if kernel == "naive" else 9}
    return base | more


def results():
    """Two types, three lengths, two kernels; one row does not fit, one is wrong, one has a name that attacks. The
    rates of bf16 have many digits: 0.00788."""
    rows = [row(kernel, n, n * n * (2e-9 if kernel == "naive" else 1e-9) * (130 if dtype == "bf16" else 1), dtype)
            for dtype in ("fp32", "bf16") for n in (512, 1024, 2048) for kernel in ("naive", "fused")]
    nothing = dict(median_s=None, tflops=None, intensity=None, verified=None, max_abs_err=None, roof_fraction=None,
                   speedup_vs_naive=None)
    rows.append(row("naive", 4096, 1, status="oom", reason="needs 9 GiB", bytes_needed=9e9, **nothing))
    rows.append(row("fused", 4096, 0.02, status="failed", verified=False, max_abs_err=0.5, reason="wrong"))
    rows.append(row(HOSTILE, 512, 0.003, case=HOSTILE, reason=HOSTILE))
    context = {"date": "2026-01-02T03:04:05Z", "cpu": HOSTILE, "experiment": HOSTILE,
               "backends": [{"name": "openmp", "device": None, "peak_flops_fp32": 5e12, "peak_bytes_per_s": 4e10}]}
    return {"context": context, "rows": rows}


def tuned():
    cells = [(q, k) for q in (64, 128, 256) for k in (64, 128)]
    rows = [{"case": "s", "tile": f"{q}x{k}", "q": q, "k": k, "team": 1, "stages": 1, "status": "ok", "pruned": False,
             "median_s": 1e-3 * (q + k) / 64, "tflops": 1, "winner": (q, k) == (64, 64), "table": (q, k) == (128, 64)}
            for q, k in cells]
    rows[-1] |= {"status": "pruned", "pruned": True, "median_s": None, "tflops": None, "reason": "200 KiB of 64"}
    return {"kind": "tune", "context": {"cpu": "A CPU"}, "rows": rows,
            "searches": [{"case": "s", "kernel": "fused", "backend": "openmp", "status": "tuned", "speedup_vs_table": 1.5}]}


def luminance(colour):
    channels = [c / 255 for c in colour[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


# Colour of each text and of what lies under it: the nearest ancestor that paints.
COLOURS = """
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const seen = new Map();
for (const element of document.querySelectorAll('h1,h2,h4,p,dt,dd,li,th button,td,figcaption,summary,label,button,select,footer,span,svg.plot text')) {
  if (!element.textContent.trim() || element.closest('.cell') || !element.checkVisibility()) continue;
  if (/^on\\d$/.test(element.getAttribute('class') || '')) continue;
  const style = getComputedStyle(element);
  const svg = element.closest('svg') !== null;
  let under = element;
  let ground = [0, 0, 0, 0];
  while (under && !(ground.length === 3 || ground[3] > 0.5)) {
    ground = parse(getComputedStyle(under).backgroundColor);
    under = under.parentElement;
  }
  const colour = parse(svg ? style.fill : style.color);
  seen.set(JSON.stringify([colour, ground]), [element.tagName + '.' + (element.getAttribute('class') || ''), colour, ground]);
}
return [...seen.values()];
"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "a.json").write_text(json.dumps(results()))
        (folder / "t.json").write_text(json.dumps(tuned()))
        cls.page = folder / "report.html"
        subprocess.run([sys.argv[1], "report", folder / "a.json", folder / "t.json", "-o", cls.page], check=True,
                       stdout=subprocess.DEVNULL)
        options = Options()
        options.binary_location = CHROMIUM
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(service=Service(DRIVER), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def setUp(self):
        self.open(1280)

    def open(self, width, theme="light"):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     dict(width=width, height=900, deviceScaleFactor=1, mobile=False))
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     dict(media="", features=[dict(name="prefers-color-scheme", value=theme)]))
        self.browser.get(self.page.as_uri())
        self.browser.execute_script("localStorage.clear()")

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def count(self, selector):
        return self.script("return document.querySelectorAll(arguments[0]).length", selector)

    def visible_rows(self):
        return self.script("return [...document.querySelectorAll('#rows tbody tr')].filter((r) => r.checkVisibility()).length")

    def column(self, name):
        return self.script("""const heads = [...document.querySelectorAll('#rows th')];
            const at = heads.findIndex((h) => h.textContent === arguments[0]);
            return [...document.querySelectorAll('#rows tbody tr')].map((r) => r.cells[at].dataset.value ?? r.cells[at].textContent)""", name)

    def press(self, name):
        self.script("""[...document.querySelectorAll('#rows th button')].find((b) => b.textContent === arguments[0]).click()""", name)

    def test_nothing_fails_and_nothing_leaves_the_machine(self):
        self.browser.get_log("performance")
        self.open(1280)
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])
        asked = []
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        self.assertIn(self.page.as_uri(), asked)
        self.assertEqual([url for url in asked if not url.startswith(("file:", "data:"))], [])

    def test_plots_have_a_mark_for_each_row(self):
        self.assertEqual(self.count("#rows tbody tr"), 15)
        self.assertEqual(self.count("#figure-roofline [data-row]"), 14)  # one row has no rate
        self.assertEqual(self.count("#figure-rate [data-row]"), 15)      # the one without a rate stands at the edge
        self.assertEqual(self.count("#figure-time .gone"), 1)
        self.assertEqual(self.count("#figure-speedup .hollow"), 7)       # fused, beside its speedup
        self.assertEqual(self.count("#figure-errors [data-row]"), 14)
        self.assertEqual(self.count("#figure-tiles .cell"), 6)
        self.assertEqual(self.count("#figure-tiles .cell.pruned"), 1)
        self.assertEqual(self.count("#trials tbody tr"), 6)
        self.assertEqual(self.script("return [...document.querySelectorAll('[data-row]')].filter((m) => !document.getElementById('row' + m.dataset.row)).length"), 0)
        outside = self.script("""return [...document.querySelectorAll('svg.plot')].flatMap((plot) => {
            const box = plot.getBoundingClientRect();
            return [...plot.querySelectorAll('[data-row]')].filter((mark) => {
              const own = mark.getBoundingClientRect();
              return plot.checkVisibility() && (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 1 || own.bottom > box.bottom + 1);
            }).map((mark) => mark.outerHTML); })""")
        self.assertEqual(outside, [])

    def test_sorting_sorts(self):
        self.press("time")
        times = [float(value) for value in self.column("time") if value != "\u2013"]
        self.assertEqual(times, sorted(times))
        self.assertEqual(self.column("time")[-1], "\u2013")
        self.press("time")
        times = [float(value) for value in self.column("time") if value != "\u2013"]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(self.column("time")[-1], "\u2013", "what is missing stays last")
        self.assertEqual(self.script("return document.querySelectorAll('#rows [aria-sort=descending]').length"), 1)
        self.press("type")
        self.assertEqual(self.column("type"), sorted(self.column("type")))

    def test_a_keyboard_sorts(self):
        button = self.browser.find_element(By.XPATH, "//table[@id='rows']//th/button[text()='N']")
        button.send_keys(Keys.ENTER)
        lengths = [float(value) for value in self.column("N")]
        self.assertEqual(lengths, sorted(lengths))

    def test_filters_filter_rows_marks_and_drawings(self):
        menu = Select(self.browser.find_element(By.CSS_SELECTOR, "select[data-column=type]"))
        menu.select_by_value("bf16")
        self.assertEqual(self.visible_rows(), 6)
        self.assertIn("6 of 15", self.browser.find_element(By.ID, "count").text)
        self.assertEqual(self.script("return [...document.querySelectorAll('#figure-rate .panel')].filter((p) => p.checkVisibility()).length"), 1)
        self.assertEqual(self.script("return [...document.querySelectorAll('#figure-roofline [data-row]')].filter((m) => m.checkVisibility()).length"), 6)
        self.browser.find_element(By.ID, "search").send_keys("FUSED 2048")
        self.assertEqual(self.visible_rows(), 1)
        self.browser.find_element(By.ID, "search").send_keys(" nowhere")
        self.assertEqual(self.visible_rows(), 0)
        self.browser.find_element(By.CSS_SELECTOR, "#filters button[type=reset]").click()
        WebDriverWait(self.browser, 5).until(lambda _: self.visible_rows() == 15)

    def test_hostile_names_stay_text(self):
        self.assertEqual(self.count("img"), 0)
        self.assertNotIn("owned", self.browser.title.split("<")[0])
        visible = HOSTILE.replace("\u202e", "\ufffd")
        self.assertIn(visible, self.script("return [...document.querySelectorAll('#rows td')].map((c) => c.textContent)"))
        self.assertEqual(self.count("script"), 1)

    def test_hints_say_what_the_row_says(self):
        mark = self.browser.find_element(By.CSS_SELECTOR, "#figure-roofline [data-row='1']")
        self.script("arguments[0].scrollIntoView({block: 'center'})", mark)
        ActionChains(self.browser).move_to_element(mark).perform()
        hint = self.browser.find_element(By.ID, "hint")
        self.assertTrue(hint.is_displayed())
        self.assertIn("fused", hint.text)
        self.assertIn("64x64", hint.text)
        self.script("document.querySelector('#figure-roofline [data-row=\"14\"]').dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))")
        self.assertEqual(self.count("#hint img"), 0)

    def test_tabs_change_what_is_drawn(self):
        self.assertTrue(self.script("return document.getElementById('figure-rate').checkVisibility()"))
        self.browser.find_element(By.CSS_SELECTOR, "label[for=tab-time]").click()
        self.assertFalse(self.script("return document.getElementById('figure-rate').checkVisibility()"))
        self.assertTrue(self.script("return document.getElementById('figure-time').checkVisibility()"))

    def test_a_name_in_the_legend_stands_out(self):
        button = self.browser.find_element(By.CSS_SELECTOR, "#figure-rate button[data-contender=fused]")
        button.click()
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        opacity = "return [...document.querySelectorAll('#figure-rate .series')].map((s) => [s.dataset.contender, getComputedStyle(s).opacity])"
        for contender, value in self.script(opacity):
            self.assertEqual(float(value) == 1, contender == "fused", contender)
        button.click()
        self.assertEqual({value for _, value in self.script(opacity)}, {"1"})

    def test_no_width_scrolls_sideways(self):
        for width in (360, 768, 1280, 2400):
            self.open(width)
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), width, width)
            self.assertEqual(self.count("#rows"), 1)

    def test_labels_stay_in_their_panels(self):
        for width in (360, 500, 1280):
            self.open(width)
            for tab in ("rate", "time", "bytes"):
                self.script("document.getElementById(arguments[0]).click()", f"tab-{tab}")
                seen, cut = self.script("""
                    const labels = [...document.querySelectorAll('.panel svg.plot text')].filter((t) => t.checkVisibility());
                    return [labels.length, labels.filter((t) => {
                      const drawing = t.ownerSVGElement, cuts = getComputedStyle(drawing).overflow !== 'visible';
                      const [text, room] = [t, cuts ? drawing : t.closest('.panel')].map((e) => e.getBoundingClientRect());
                      return text.left < room.left || text.right > room.right || text.bottom > room.bottom;
                    }).map((t) => t.textContent)]""")
                self.assertGreater(seen, 20)
                self.assertEqual(cut, [], f"{tab}, {width} wide")

    def test_both_themes_can_be_read(self):
        grounds = set()
        for theme in ("light", "dark"):
            self.open(1280, theme)
            for name, colour, ground in self.script(COLOURS):
                self.assertGreaterEqual(contrast(colour, ground), 4.5, f"{theme}: {name} {colour} on {ground}")
            grounds.add(self.script("return getComputedStyle(document.body).backgroundColor"))
            for number in range(8):
                colour = self.script("const m = document.querySelector('svg.plot .mark'); m.setAttribute('class', 'mark c' + arguments[0]);"
                                     "return getComputedStyle(m).color.match(/[\\d.]+/g).map(Number)", number)
                ground = self.script("return getComputedStyle(document.querySelector('.panel')).backgroundColor.match(/[\\d.]+/g).map(Number)")
                self.assertGreaterEqual(contrast(colour, ground), 3, f"{theme}: colour {number}")
        self.assertEqual(len(grounds), 2)

    def test_the_button_turns_the_theme_and_it_is_kept(self):
        before = self.script("return getComputedStyle(document.body).backgroundColor")
        self.browser.find_element(By.ID, "theme").click()
        after = self.script("return getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(before, after)
        self.browser.refresh()
        self.assertEqual(self.script("return getComputedStyle(document.body).backgroundColor"), after)

    def test_everything_has_a_name_and_ids_are_unique(self):
        self.assertEqual(self.script("return [...document.querySelectorAll('svg.plot')].filter((s) => !s.getAttribute('aria-label')).length"), 0)
        self.assertEqual(self.script("return [...document.querySelectorAll('button')].filter((b) => !b.textContent.trim()).length"), 0)
        self.assertEqual(self.script("const ids = [...document.querySelectorAll('[id]')].map((e) => e.id); return ids.length - new Set(ids).size"), 0)
        self.assertEqual(self.count("table:not(:has(caption))"), 0)
        self.assertEqual(self.script("return document.documentElement.lang"), "en")

    def test_print_shows_all_and_without_scripts_it_reads(self):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dict(media="print"))
        for figure in ("rate", "time", "bytes", "speedup"):
            self.assertTrue(self.script("return document.getElementById('figure-' + arguments[0]).checkVisibility()", figure), figure)
        self.assertFalse(self.script("return document.getElementById('filters').checkVisibility()"))
        across = 1047  # of A4, landscape; what is wider is printed smaller, all of it
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     dict(width=across, height=700, deviceScaleFactor=1, mobile=False))
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), across)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dict(media="screen"))
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=True))
        self.browser.get(self.page.as_uri())
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", dict(value=False))
        self.assertFalse(self.script("return document.documentElement.classList.contains('scripted')"))
        self.assertEqual(self.visible_rows(), 15)
        self.assertFalse(self.script("return document.getElementById('filters').checkVisibility()"))


if __name__ == "__main__":
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys
        from selenium.webdriver.support.ui import Select, WebDriverWait
    except ImportError:
        print("skipped: Python has no Selenium (Debian: python3-selenium)")
        sys.exit(SKIPPED)
    if not CHROMIUM or not DRIVER:
        print("skipped: there is no Chromium with its chromedriver (Debian: chromium chromium-driver)")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
