// Compares two tables or figures that should be equal; returns the difference as text.

/** Floating-point numbers of the same arithmetic differ by less, relative to the larger one. */
const CLOSE = 1e-12;

/** Numbers of figures are written with two decimals: they differ by one of the last at most. */
const POINT = 0.0101;

/** Differences of a table that are reported. */
const TOLD = 5;

const INTEGER = /^-?\d{1,15}$/;
const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** The lines of a CSV text, each a list of cells. */
export function parse(text) {
  const lines = [];
  let line = [];
  let cell = "";
  let quoted = false;
  for (let k = 0; k < text.length; k++) {
    const letter = text[k];
    if (quoted && letter === '"' && text[k + 1] === '"') {
      cell += '"';
      k += 1;
    } else if (letter === '"') {
      quoted = !quoted;
    } else if (quoted || (letter !== "," && letter !== "\n")) {
      cell += letter;
    } else {
      line.push(cell);
      cell = "";
      if (letter === "\n") {
        lines.push(line);
        line = [];
      }
    }
  }
  return lines;
}

/** Whether two cells say the same: texts and integers letter by letter, other numbers within a relative tolerance. */
export function same(expected, found, tolerance = CLOSE) {
  if (expected === found) {
    return true;
  }
  if (!NUMBER.test(expected) || !NUMBER.test(found) || (INTEGER.test(expected) && INTEGER.test(found))) {
    return false;
  }
  const [one, other] = [Number(expected), Number(found)];
  return Math.abs(one - other) <= tolerance * Math.max(Math.abs(one), Math.abs(other));
}

/**
 * What differs between two CSV texts, with row and column. `within` has the relative tolerance of columns whose numbers a
 * solver finds.
 */
export function differences(expected, found, within) {
  if (expected === found) {
    return [];
  }
  const [wanted, there] = [parse(expected), parse(found)];
  const complaints = [];
  if (wanted.length !== there.length) {
    complaints.push(`expected ${wanted.length} lines, found ${there.length}`);
  }
  const [header] = wanted;
  const rows = Math.min(wanted.length, there.length);
  for (let row = 0; row < rows && complaints.length < TOLD; row++) {
    const [one, other] = [wanted[row], there[row]];
    if (one.length !== other.length) {
      complaints.push(`row ${row}: expected ${one.length} cells, found ${other.length}`);
      continue;
    }
    const column = one.findIndex((cell, column) => !same(cell, other[column], within[header[column]] ?? CLOSE));
    if (column >= 0) {
      const name = header[column];
      complaints.push(`row ${row}, column “${name}”: expected “${one[column]}”, found “${other[column]}”`);
    }
  }
  return complaints;
}

/** What differs first between two SVG texts, if anything: numbers may by the last decimal that is written. */
export function figureDifference(expected, found) {
  if (expected === found) {
    return null;
  }
  const pieces = (svg) => svg.split(/(-?\d+(?:\.\d+)?)/);
  const [wanted, there] = [pieces(expected), pieces(found)];
  // Every second piece is a number.
  const close = (one, other, k) => one === other || (k % 2 === 1 && Math.abs(Number(one) - Number(other)) <= POINT);
  const place = wanted.findIndex((piece, k) => there[k] === undefined || !close(piece, there[k], k));
  if (place < 0) {
    return wanted.length === there.length ? null : "found more than was expected";
  }
  const around = (pieces) => pieces.slice(Math.max(0, place - 6), place + 3).join("").slice(-160);
  return `expected “${around(wanted)}”, found “${around(there)}”`;
}
