/**
 * Comments of the person on lines of a diff: as the task keeps them, as the diff shows them, and as
 * an agent reads them.
 *
 * The relay reads a commented line from git. It is text of the repository, and so it is quoted
 * wherever an agent reads it. Only the comment itself is the person's.
 */
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import {
  LINE_COMMENT_LIMITS,
  type LineComment,
  type NewLineComment,
  type ShownLineComment,
} from '../../../src/shared/protocol/line-comments.ts';
import type { Repository } from '../checkouts/index.ts';

/** The two commits that a diff compares. */
export interface FromWhere {
  readonly base: string;
  readonly head: string;
}

type Kept =
  | { readonly ok: true; readonly value: readonly LineComment[] }
  /** `why`: a sentence. */
  | { readonly ok: false; readonly why: string };

/** Reads the line of each comment, once for each id. All of them are kept, or none. */
export async function keptComments(
  repository: Pick<Repository, 'textOfLine'>,
  comments: readonly NewLineComment[],
  time: number,
): Promise<Kept> {
  const kept = new Map<string, LineComment>();
  for (const comment of comments) {
    const text = await repository.textOfLine(comment.commit, comment);
    if (text === null) return { ok: false, why: sentence`${comment.path} has no line ${comment.line} in this commit.` };
    kept.set(comment.commentId, { ...comment, time, quoted: beginningOf(text) });
  }
  return { ok: true, value: [...kept.values()] };
}
/** Without half of a character at the end. */
const beginningOf = (text: string) => text.slice(0, LINE_COMMENT_LIMITS.quoted).replace(/[\ud800-\udbff]$/, '');

/** Each comment with the place of its line in the diff. */
export async function shownComments(
  repository: Pick<Repository, 'linesIn'>,
  comments: readonly LineComment[],
  { base, head }: FromWhere,
): Promise<readonly ShownLineComment[]> {
  const now = new Map<LineComment, ShownLineComment['now']>();
  for (const side of ['before', 'after'] as const) {
    const to = side === 'before' ? base : head;
    const own = comments.filter((comment) => comment.side === side);
    for (const commit of new Set(own.map((comment) => comment.commit))) {
      const read = own.filter((comment) => comment.commit === commit);
      const at = read.map(({ path, line }) => ({ path, line }));
      const found = commit === to ? at : await repository.linesIn(commit, at, to);
      for (const [n, comment] of read.entries()) now.set(comment, found[n] ?? null);
    }
  }
  return comments.map((comment) => ({ ...comment, now: now.get(comment) ?? null }));
}

const placeOf = ({ path, line, side, commit }: LineComment) =>
  `${titled(path)}:${line} ${side === 'before' ? 'before the change' : 'after the change'}, commit ${commit.slice(0, 12)}`;
const LINE = 'the line is text of the repository:';

/** The message of the person to the agent. `begins`: says which task it is about. */
export const messageOf = (
  begins: string,
  { note, comments }: { readonly note: string; readonly comments: readonly LineComment[] },
): string =>
  [
    note === '' ? begins : `${begins} ${note}`,
    ...comments.map((comment) =>
      [writeSaid({ head: `${placeOf(comment)}; ${LINE}`, text: comment.quoted }), `My comment: ${comment.text}`].join(
        '\n',
      ),
    ),
  ].join('\n\n');

/** For an agent that reads the task. `earlier`: comments that are left out. */
export const toldComments = (
  comments: readonly (LineComment & Partial<Pick<ShownLineComment, 'now'>>)[],
  earlier: number,
): readonly string[] => [
  ...(earlier === 0 ? [] : [`There are ${earlier} earlier comments on lines.`]),
  ...comments.flatMap((comment) => {
    const { now, time, quoted, text } = comment;
    const since =
      now === undefined
        ? ''
        : now === null
          ? ', and the line has changed since'
          : now.line === comment.line && now.path === comment.path
            ? ''
            : `, now ${titled(now.path)}:${now.line}`;
    return [
      writeSaid({ head: `${placeOf(comment)}${since}; ${LINE}`, text: quoted }),
      writeSaid({ head: `The human’s comment on this line, ${new Date(time).toISOString()}:`, text }),
    ];
  }),
];
