/**
 * Long texts in pieces that are set one by one. Every piece but the last stays as it is when words are
 * added at the end, so that an answer being written sets only its last piece anew.
 */

/** Characters from which on a piece ends at the next place where nothing runs on. */
const SOFT = 1_500;
/** Characters that no piece is longer than; a code block or a paragraph that is longer is parted. */
const HARD = 4_000;
/** Characters of link definitions that a piece carries along. */
const DEFINITIONS_MOST = 2_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const DEFINITION = /^ {0,3}\[([^\]\n]+)\]:\s*\S.*$/;
/** A line after an empty one that cannot belong to what stands before it: no list, no quotation, nothing indented. */
const FRESH = /^[^\s\d\-*+>[:|<]/;

/** Where to part a line that is too long by itself: at its last space, and never within a character. */
function cutOf(text: string, most: number): number {
  const space = text.lastIndexOf(' ', most);
  if (space > most / 2) return space + 1;
  const code = text.charCodeAt(most - 1);
  return code >= 0xd800 && code <= 0xdbff ? most - 1 : most;
}

/** `text` as it stands, in pieces of at most HARD characters, parted at line ends where there are any. */
export function plainPieces(text: string): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > HARD) {
    const line = rest.lastIndexOf('\n', HARD);
    const cut = line > HARD / 2 ? line + 1 : cutOf(rest, HARD);
    // The line break is in the parting.
    pieces.push(line > HARD / 2 ? rest.slice(0, line) : rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...pieces, rest];
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf('\n', from);
    let line = end < 0 ? text.slice(from) : text.slice(from, end);
    while (line.length > HARD) {
      const cut = cutOf(line, HARD);
      yield line.slice(0, cut);
      line = line.slice(cut);
    }
    yield line;
    if (end < 0) return;
    from = end + 1;
  }
}

/** Links named in one piece may be defined in another: each piece that uses a name carries its definition along. */
function withDefinitions(pieces: readonly string[]): readonly string[] {
  const definitions = new Map<string, string>();
  for (const piece of pieces)
    if (piece.includes(']:'))
      for (const line of piece.split('\n')) {
        const name = DEFINITION.exec(line)?.[1]?.toLowerCase();
        if (name !== undefined && !definitions.has(name)) definitions.set(name, line);
      }
  if (definitions.size === 0) return pieces;
  return pieces.map((piece) => {
    const said = piece.toLowerCase();
    const lines = [...definitions].flatMap(([name, line]) =>
      said.includes(`[${name}]`) && !piece.includes(line) ? [line] : [],
    );
    return lines.length === 0 ? piece : `${piece}\n\n${lines.join('\n').slice(0, DEFINITIONS_MOST)}`;
  });
}

/** Markdown in pieces that read alone as they did together; a code block that is parted is one block after another. */
export function markdownPieces(text: string): readonly string[] {
  if (text.length <= SOFT) return [text];
  const pieces: string[] = [];
  let lines: string[] = [];
  let size = 0;
  let empty = false;
  /** The line that opened the code block we are in. */
  let fence: { readonly opener: string; readonly mark: string } | null = null;

  const close = () => {
    if (lines.length > 0) pieces.push(lines.join('\n'));
    lines = [];
    size = 0;
  };
  const add = (line: string) => {
    lines.push(line);
    size += line.length + 1;
  };

  for (const line of linesOf(text)) {
    if (fence) {
      if (size + line.length > HARD) {
        add(fence.mark);
        close();
        add(fence.opener);
      }
      add(line);
      if (new RegExp(`^ {0,3}\\${fence.mark.charAt(0)}{${fence.mark.length},}\\s*$`).test(line)) fence = null;
      empty = false;
      continue;
    }
    if ((size >= SOFT && empty && FRESH.test(line)) || size + line.length > HARD) close();
    add(line);
    empty = line.trim() === '';
    const mark = FENCE.exec(line)?.[1];
    // A fence of backticks with a further one on its line is code within a sentence.
    if (mark !== undefined && !(mark.startsWith('`') && line.slice(line.indexOf(mark) + mark.length).includes('`')))
      fence = { opener: line, mark };
  }
  close();
  return withDefinitions(pieces);
}
