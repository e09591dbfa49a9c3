/**
 * What an agent receives of earlier sessions when it wakes: a transcript, oldest first, within a
 * character limit.
 *
 * The most recent session in which someone addressed the agent gets space first. The others follow,
 * newest first, until the limit is reached. A session with only the agent's greeting takes one
 * line. Messages are quoted (quoting.ts), so no message can contain the heading of another or a
 * line of the relay.
 */
import { MOST_MARKS, quote, QUOTE_MARK, readSaid, restOf, unquote } from './quoting.ts';
import { inOneLine, keepPairs } from './talk.ts';

/** Stands above a summary in a transcript. No person or agent can have this name. */
export const SUMMARY_AUTHOR = '[your own summary of what was said before]';

export interface TranscriptMessage {
  /** Display name of the author, including other agents that wrote to this one. */
  readonly author: string;
  /** ms since the epoch */
  readonly time: number;
  readonly text: string;
}

export type TranscriptSession =
  /**
   * `addressed`: someone said something to the agent. `earlier`: number of messages before these
   * that were not read from the ledger. `imported`: the words come from files of another product.
   */
  | {
      readonly kind: 'talk';
      readonly addressed: boolean;
      readonly imported?: boolean;
      readonly messages: readonly TranscriptMessage[];
      readonly earlier: number;
    }
  /**
   * Consecutive sessions in which nobody addressed the agent. `more`: there are more of them than
   * `times`. `words`: the text of the last greeting.
   */
  | {
      readonly kind: 'greetings';
      readonly times: number;
      readonly more: boolean;
      readonly from: number;
      readonly until: number;
      readonly words: string | null;
    };

export interface Transcript {
  /** At most `cap` UTF-16 units. */
  readonly text: string;
  readonly kept: number;
  readonly leftOut: number;
}

const BETWEEN = '\n\n';
/** Maximum length of a name and of a quoted greeting, in characters. */
const NAME_MAX = 120;
const GREETING_MAX = 240;
/** Shortest piece of a message that is worth showing. */
const PIECE_MIN = 80;
/** Upper and lower limit of a cut message, as shares of the cap. */
export const LONG_SHARE = { most: 1 / 2, least: 1 / 40 } as const;

/** `2026-11-21 08:52` in UTC: agents on different devices must read the same text. */
const minute = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ');
const day = (time: number) => new Date(time).toISOString().slice(0, 10);

const headOf = ({ author, time }: TranscriptMessage) => `${inOneLine(author, NAME_MAX)} (${minute(time)} UTC):\n`;
/** Ids of sessions that were imported from another product begin with this. */
export const IMPORTED_SESSION = 'import-';
const IMPORTED = ', imported from files of another product';
const dateLine = (time: number, imported = false) => `=== ${day(time)}${imported ? IMPORTED : ''} ===`;
const IMPORTED_LINE = new RegExp(`^=== \\S+${IMPORTED} ===$`, 'm');
const messages = (count: number) => (count === 1 ? '1 earlier message' : `${count} earlier messages`);

export const leftOutLine = (count: number): string => `[${messages(count)} ${count === 1 ? 'was' : 'were'} left out]`;
const leftOutHere = (count: number): string =>
  `[${messages(count)} of this session ${count === 1 ? 'was' : 'were'} left out]`;
/** The cut split the mark of a line. */
// eslint-disable-next-line no-control-regex
const UNFINISHED_MARK = /(?:\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029])>?$/;
const cutLine = (count: number): string => `\n[${count} characters are left out here]\n`;

/**
 * Quotes a text in at most `most` UTF-16 units: whole, or without its middle, with a line that says
 * so.
 */
export function quoteWithin(text: string, most: number): string {
  const quoted = quote(text);
  if (quoted.length <= most) return quoted;
  const room = most - cutLine(text.length).length - MOST_MARKS;
  // There is not even space for that line.
  if (room < 2 * QUOTE_MARK.length + 2) return keepPairs(quoted.slice(0, Math.max(0, most)));
  const start = keepPairs(quoted.slice(0, Math.ceil(room / 2))).replace(UNFINISHED_MARK, '');
  const end = restOf(quoted, quoted.length - Math.floor(room / 2));
  return `${start}${cutLine(Math.max(1, text.length - unquote(start).length - unquote(end).length))}${end}`;
}

function greetingsLine({ times, more, from, until, words }: Extract<TranscriptSession, { kind: 'greetings' }>): string {
  const when = day(from) === day(until) ? day(until) : `${day(from)} to ${day(until)}`;
  const often = more ? `more than ${times} times` : times === 1 ? 'once' : `${times} times`;
  const said =
    words === null || words.trim() === ''
      ? ''
      : `; ${times === 1 && !more ? 'your greeting' : 'your last greeting'}: “${inOneLine(words, GREETING_MAX)}”`;
  return `[${when}: you woke ${often}, and nobody said anything to you${said}]`;
}

interface Shown {
  readonly lines: readonly string[];
  readonly kept: number;
  readonly leftOut: number;
}
const NOTHING: Shown = { lines: [], kept: 0, leftOut: 0 };

/** Size of lines, each with its separator. */
const sizeOf = (lines: readonly string[]) => lines.reduce((sum, line) => sum + line.length + BETWEEN.length, 0);

const sizeOfMessage = (message: TranscriptMessage) => headOf(message).length + quote(message.text).length;

/**
 * Maximum size of a message, at most `most`. It is reduced down to `least` if all messages then
 * fit.
 */
function longestPiece(messages: readonly TranscriptMessage[], room: number, { most, least }: Pieces): number {
  const sizes = messages.map(sizeOfMessage);
  const long = sizes.filter((size) => size > most).length;
  if (long === 0) return most;
  const others = sizes.reduce((sum, size) => (size > most ? sum : sum + size), 0);
  const share = Math.floor((room - others - messages.length * BETWEEN.length) / long);
  return share < least ? most : Math.min(most, share);
}

interface Pieces {
  readonly most: number;
  readonly least: number;
}

/**
 * The newest messages of a session that fit into `room`, none longer than `pieces` allows. Returns
 * nothing if no message fits and `must` is false.
 */
function fitTalk(
  session: Extract<TranscriptSession, { kind: 'talk' }>,
  room: number,
  pieces: Pieces,
  must: boolean,
): Shown {
  const { messages, earlier, imported } = session;
  const total = messages.length + earlier;
  const [first] = messages;
  if (!first) return { ...NOTHING, leftOut: total };
  const above = [dateLine(first.time, imported), ...(earlier > 0 ? [leftOutHere(earlier)] : [])];
  const most = longestPiece(messages, room - sizeOf(above), pieces);
  const all = [...above, ...messages.map((message) => cutPiece(message, most))];
  if (sizeOf(all) <= room) return { lines: all, kept: messages.length, leftOut: earlier };
  let left = room - sizeOf([dateLine(first.time, imported), leftOutHere(total)]);
  const kept: string[] = [];
  for (const message of messages.toReversed()) {
    const isLong = sizeOfMessage(message) > most;
    // A message that is cut anyway is cut to the remaining space, even if only its ends are left.
    // So is the last message of all.
    const fits = left - BETWEEN.length;
    const canCut = (isLong && fits >= pieces.least) || (must && kept.length === 0 && left > PIECE_MIN);
    const piece = cutPiece(message, canCut ? Math.min(most, fits) : most);
    if (sizeOf([piece]) > left) break;
    kept.unshift(piece);
    left -= sizeOf([piece]);
  }
  if (kept.length === 0) return { ...NOTHING, leftOut: total };
  const leftOut = total - kept.length;
  const oldest = messages[messages.length - kept.length] ?? first;
  return {
    lines: [dateLine(oldest.time, imported), ...(leftOut > 0 ? [leftOutHere(leftOut)] : []), ...kept],
    kept: kept.length,
    leftOut,
  };
}

function cutPiece(message: TranscriptMessage, most: number): string {
  const head = headOf(message);
  // A heading that does not fit is cut, and has no text below it.
  return head.length > most
    ? keepPairs(head.slice(0, Math.max(0, most)).trimEnd())
    : head + quoteWithin(message.text, most - head.length);
}

function fit(session: TranscriptSession, room: number, cap: number, must: boolean): Shown {
  if (session.kind === 'talk')
    return fitTalk(
      session,
      room,
      { most: Math.floor(cap * LONG_SHARE.most), least: Math.max(PIECE_MIN, Math.floor(cap * LONG_SHARE.least)) },
      must,
    );
  const line = greetingsLine(session);
  return sizeOf([line]) <= room ? { lines: [line], kept: 0, leftOut: 0 } : NOTHING;
}

/**
 * The sessions that fit into `room`, and as much of each as fits: first the last addressed session,
 * then the newest.
 */
function fill(
  sessions: readonly TranscriptSession[],
  room: number,
  cap: number,
): { readonly shown: readonly Shown[]; readonly whole: boolean } {
  const shown = sessions.map((): Shown => NOTHING);
  const first = sessions.findLastIndex((session) => session.kind === 'talk' && session.addressed);
  let remaining = room;
  let whole = true;
  const place = (session: TranscriptSession, index: number, must: boolean) => {
    const one = fit(session, remaining, cap, must);
    shown[index] = one;
    remaining -= sizeOf(one.lines);
    whole = one.leftOut === 0;
  };
  const primary = sessions[first];
  if (primary) place(primary, first, true);
  for (let index = sessions.length - 1; index >= 0 && whole; index--) {
    const session = sessions[index];
    if (session && index !== first) place(session, index, first < 0);
  }
  return { shown, whole };
}

/**
 * Renders `sessions` (oldest first) in at most `cap` characters.
 *
 * A message longer than half the cap loses its middle, with a line that says how much. If several
 * are too long, they share the space that the others leave. `earlier` is the number of messages of
 * still earlier sessions that were not read. Null: nothing to tell, or no space for it.
 */
export function renderTranscript(sessions: readonly TranscriptSession[], cap: number, earlier = 0): Transcript | null {
  const total = sessions.reduce(
    (sum, session) => (session.kind === 'talk' ? sum + session.messages.length + session.earlier : sum),
    earlier,
  );
  // The last line has no separator after it.
  const room = cap + BETWEEN.length;
  const line = sizeOf([leftOutLine(total)]);
  const all = fill(sessions, room, cap);
  // Space for the line about missing messages is reserved only if some are missing.
  const { shown } = all.whole && earlier === 0 ? all : fill(sessions, room - line, cap);
  const kept = shown.reduce((sum, one) => sum + one.kept, 0);
  const mentioned = shown.reduce((sum, one) => (one.lines.length > 0 ? sum + one.leftOut : sum), 0);
  const leftOut = total - kept;
  const lines = shown.flatMap((one) => one.lines);
  if (leftOut > mentioned && line <= room) lines.unshift(leftOutLine(leftOut - mentioned));
  return lines.length === 0 ? null : { text: lines.join(BETWEEN), kept, leftOut };
}

/** Parses the heading of a message. */
const HEAD = /^(?<author>.+) \((?<at>\d{4}-\d\d-\d\d \d\d:\d\d) UTC\):$/;
const CUT = /^\[\d+ characters are left out here\]$/;

/**
 * The messages of the transcript in a prompt, oldest first. `time` is precise to the minute. The
 * two ends of a cut message are joined.
 */
export function parseTranscript(text: string): TranscriptMessage[] {
  const messages: { author: string; time: number; text: string }[] = [];
  for (const said of readSaid(text)) {
    const { author, at } = HEAD.exec(said.head)?.groups ?? {};
    const last = messages.at(-1);
    if (author !== undefined && at !== undefined)
      messages.push({ author, time: Date.parse(`${at.replace(' ', 'T')}Z`), text: said.text });
    else if (last && CUT.test(said.head)) last.text += ` … ${said.text}`;
  }
  return messages;
}

/**
 * Whether the transcript in a prompt has words of others: of somebody else than these, such as what
 * the relay told of a call, or from files of another product.
 */
export const hasWordsOfOthers = (text: string, own: readonly string[]): boolean =>
  IMPORTED_LINE.test(text) ||
  parseTranscript(text).some(({ author }) => author !== SUMMARY_AUTHOR && !own.includes(author));
