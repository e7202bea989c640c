// The page shows what the program shows: tables, figures and the texts of lessons, whatever was shown before.
// The program's output was computed with a separate model for each link (`tests/src/links.rs`).

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Viewer } from "./page.mjs";
import { differences, figureDifference } from "./tables.mjs";

/** Complaints that are shown. */
const ENOUGH = 30;

/** Milliseconds until what a link shows is drawn. */
const SOON = 8_000;

/** Milliseconds from the title of a step to its texts. */
const AT_ONCE = 4_000;

/** The page with all bundles that the links are followed over. */
const everything = (given) => `${given.address}/?${given.session.map((name) => `bundle=${given.bundles[name]}`).join("&")}#v1;view=layouts`;

/** Fails with the first complaints. */
function none(complaints) {
  const more = complaints.length > ENOUGH ? [`… and ${complaints.length - ENOUGH} more`] : [];
  assert.equal(complaints.length, 0, [...complaints.slice(0, ENOUGH), ...more].join("\n"));
}

/** What Save would write of a link. */
function written(viewer, link) {
  return viewer.page.evaluate((link) => {
    const attempt = (write) => {
      try {
        return { text: write(link) };
      } catch (error) {
        return { error: String(error) };
      }
    };
    return { table: attempt(window.sparsescope.table), svg: attempt(window.sparsescope.svg) };
  }, link);
}

/** What is wrong with what a link shows. */
function complaintsOf({ link, table, svg }, found, within, when) {
  const at = `${link} (${when})`;
  if (found.table.error !== undefined) {
    return [`${at}: there is no table: ${found.table.error}`];
  }
  const complaints = differences(table, found.table.text, within).map((one) => `${at}: ${one}`);
  if (svg === null) {
    return complaints.concat(found.svg.error === undefined ? [`${at}: a figure, and the program has none`] : []);
  }
  if (found.svg.error !== undefined) {
    return [...complaints, `${at}: there is no figure: ${found.svg.error}`];
  }
  const other = figureDifference(svg, found.svg.text);
  return other ? [...complaints, `${at}: the figure: ${other}`] : complaints;
}

/** What a step shows, by what it is; choices are right or wrong where the answer is shown. */
function expectations({ right, asked, told }, isTold) {
  const { text, ask, choices, answer } = isTold ? told : asked;
  const all = text.map((text) => ["text", text]);
  all.push(...(ask === null ? [] : [["question", ask]]));
  const mark = (k) => (isTold && k === right ? " (right)" : "");
  all.push(...choices.map((choice, k) => ["choice", `Choice: ${choice}${mark(k)}`]));
  return isTold ? [...all, ...answer.map((text) => ["answer", text])] : all;
}

/** The one of some texts that begins most like another. */
function nearest(text, texts) {
  const common = (other) => {
    let k = 0;
    while (k < text.length && text[k] === other[k]) {
      k += 1;
    }
    return k;
  };
  return texts.reduce((best, other) => (common(other) > common(best) ? other : best), "");
}

/** Waits for all that a step has to show; what is missing, and a line of the report for each. */
async function compare(viewer, where, step, isTold, report) {
  const expected = expectations(step, isTold);
  const end = Date.now() + AT_ONCE;
  let names;
  let missing;
  do {
    names = (await viewer.widgets()).map(({ name }) => name);
    missing = expected.filter(([, text]) => !names.includes(text));
    if (missing.length > 0) {
      await viewer.frames(2);
    }
  } while (missing.length > 0 && Date.now() < end);
  for (const [what, text] of expected) {
    report.push([where, what, text, names.includes(text) ? text : nearest(text, names)]);
  }
  const complaints = missing.map(([what, text]) => `${where}: ${what}: expected “${text}”, found “${nearest(text, names)}”`);
  const marked = names.filter((name) => /^Choice: .* \((right|chosen and right)\)$/s.test(name));
  const wanted = isTold && step.right !== null ? 1 : 0;
  if (marked.length !== wanted) {
    complaints.push(`${where}: ${wanted} of the choices is to be marked as right, and there are ${marked.length}`);
  }
  return complaints;
}

/** Lines of program and page side by side, as a table of Markdown. */
function saveReport(file, report) {
  const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  const line = (cells) => `| ${cells.map(cell).join(" | ")} |`;
  const head = ["step", "what", "program", "page", "same"];
  const lines = report.map(([where, what, program, page]) => [where, what, program, page, program === page ? "yes" : "NO"]);
  const rule = `|${" --- |".repeat(head.length)}`;
  writeFileSync(file, `${[line(head), rule, ...lines.map(line)].join("\n")}\n`);
}

export const cases = {
  async "a number, a word or a line that differs between two tables or figures is named"() {
    const told = (expected, found) => differences(expected, found, { g: 1e-9 }).join("; ");
    const table = 'name,n,rate,g\n"a, ""b""",10000000000,0.1,0.5\n';
    assert.equal(told(table, table.replace("0.1,", "0.1000000000000001,").replace("0.5", "0.5000000001")), "");
    const rate = told(table, table.replace("0.1,", "0.10000000001,"));
    assert.equal(rate, "row 1, column “rate”: expected “0.1”, found “0.10000000001”");
    assert.match(told(table, table.replace("10000000000", "4294967295")), /column “n”/);
    assert.match(told(table, table.replace("0.5", "0.50000001")), /column “g”/);
    assert.match(told(table, table.replace("a, ", "a; ")), /expected “a, "b"”, found “a; "b"”/);
    assert.match(told(table, `${table}x,1,1,1\n`), /expected 2 lines, found 3/);
    const figure = '<circle cx="10.25" r="3"/><text>31 levels</text>';
    assert.equal(figureDifference(figure, figure.replace("10.25", "10.26")), null);
    assert.match(figureDifference(figure, figure.replace("31", "15")), /found “.*15/);
    assert.match(figureDifference(figure, figure.replace("circle", "rect")), /found “<rect/);
    assert.match(figureDifference(figure, `${figure}5`), /more/);
  },

  async "every link gives the table and the figure of the program, whatever was asked before"(context, given) {
    const { within, links } = JSON.parse(readFileSync(given.links, "utf8"));
    // Reading thousands of runs takes a while.
    const viewer = await Viewer.open(context, everything(given), async (page) => page.setDefaultTimeout(90_000));
    const refused = (await viewer.widgets()).filter(({ name }) => /^Could not open /.test(name));
    assert.deepEqual(refused, []);
    const complaints = [];
    for (const [when, order] of [["forward", links], ["back", links.toReversed()]]) {
      for (const expected of order) {
        complaints.push(...complaintsOf(expected, await written(viewer, expected.link), within, when));
      }
    }
    none(complaints);
    await viewer.close();
    return `${links.length} links, forward and back`;
  },

  async "a view draws what its link says, not what was drawn before"(context, given) {
    const { drawn } = JSON.parse(readFileSync(given.links, "utf8"));
    const open = (link) => Viewer.open(context, `${given.address}/?bundle=${given.bundles["golden.zip"]}#${link}`);
    const texts = async (viewer) => {
      // Hit testing under the mouse uses the positions of the previous frame: a second move draws another
      // frame.
      // A margin, where no tooltip opens after a while.
      for (const x of [1, 2]) {
        await viewer.page.mouse.move(x, 700);
        await viewer.frames(3);
      }
      return viewer.texts();
    };
    const fresh = new Map();
    for (const link of drawn) {
      const viewer = await open(link);
      // A drawing in parts is complete when nothing changes any more.
      let before = [];
      const rests = async () => {
        const now = await texts(viewer);
        const same = String(now) === String(before);
        before = now;
        return same;
      };
      await viewer.until(`${link} at rest`, rests);
      fresh.set(link, { texts: before, written: await written(viewer, link) });
      await viewer.close();
    }
    const session = await open("v1;view=runs");
    const complaints = [];
    for (const link of [...drawn, ...drawn.toReversed()]) {
      await session.page.evaluate((link) => (location.hash = link), link);
      const expected = fresh.get(link);
      const end = Date.now() + SOON;
      let found;
      do {
        found = await texts(session);
      } while (String(found) !== String(expected.texts) && Date.now() < end);
      const lacks = expected.texts.filter((text) => !found.includes(text));
      const more = found.filter((text) => !expected.texts.includes(text));
      if (lacks.length + more.length > 0) {
        complaints.push(`${link}: lacks ${JSON.stringify(lacks.slice(0, 5))}, has ${JSON.stringify(more.slice(0, 5))}`);
      }
      if (JSON.stringify(await written(session, link)) !== JSON.stringify(expected.written)) {
        complaints.push(`${link}: the table or the figure is another one than in a session of its own`);
      }
    }
    none(complaints);
    await session.close();
    return `${drawn.length} links, forward and back`;
  },

  async "every step of every lesson says what the program says, with the keyboard forward, by links back"(context, given) {
    const address = `${given.address}/#v1;view=layouts`;
    const lessons = JSON.parse(readFileSync(given.lessons, "utf8"));
    const viewer = await Viewer.open(context, address);
    const inPage = await viewer.page.evaluate(() => JSON.parse(document.getElementById("lessons").textContent));
    assert.deepEqual(
      inPage.map(({ id, steps }) => `${id}: ${steps.length}`),
      lessons.map(({ id, steps }) => `${id}: ${steps.length}`),
    );
    const complaints = [];
    const report = [];
    let keys = 0;
    for (const { id, title, steps } of lessons) {
      await viewer.page.goto(address);
      await viewer.click("button", "Lessons");
      await viewer.click("button", title);
      for (const [page, step] of steps.entries()) {
        const where = `${id}, step ${page + 1}`;
        await viewer.shows(`lesson=${id},${page}`);
        await viewer.find("text", step.title);
        complaints.push(...(await compare(viewer, where, step, false, report)));
        const { answer } = step.told;
        const names = (await viewer.widgets()).map(({ name }) => name);
        complaints.push(...answer.filter((text) => names.includes(text)).map((text) => `${where} tells too early: ${text}`));
        if (answer.length > 0) {
          await viewer.page.keyboard.press(keys % 2 ? "Space" : "PageDown");
          await viewer.shows("told=true");
          complaints.push(...(await compare(viewer, `${where}, told`, step, true, report)));
        }
        if (page === 0) {
          const colours = await viewer.colours(join(given.screenshots, `lesson-${id}.png`));
          assert.ok(colours > 20, `${id}: a picture of ${colours} colours`);
        }
        keys += 1;
        await viewer.page.keyboard.press("PageDown");
      }
    }
    // A key takes effect in the next frame, a link at once.
    await viewer.frames(6);
    const back = lessons.flatMap(({ id, steps }) => steps.map((step, page) => ({ id, page, step }))).toReversed();
    for (const { id, page, step } of back) {
      const told = step.told.answer.length > 0;
      const link = `v1;lesson=${id},${page}${told ? ";told=true" : ""}`;
      await viewer.page.evaluate((link) => (location.hash = link), link);
      await viewer.find("text", step.title);
      complaints.push(...(await compare(viewer, `${id}, step ${page + 1}, back`, step, told, report)));
    }
    if (given.lessonsReport) {
      saveReport(given.lessonsReport, report);
    }
    none(complaints);
    // A dropped lesson is shown, and an invalid one is refused with a sentence.
    const own = { ...inPage[0], id: "own", title: "Own" };
    await viewer.drop("own.json", Buffer.from(JSON.stringify(own)));
    await viewer.shows("lesson=own,0");
    await viewer.drop("bad.json", Buffer.from("{}"));
    await viewer.find("text", /^Could not open bad\.json: not a lesson/);
    await viewer.close();
    return `${back.length} steps`;
  },
};
