/**
 * Decides which pictures and PDFs a model server receives. A damaged file makes the server refuse
 * the whole request. So files are left out one by one until the request passes, and files that were
 * never accepted go first. A file that was refused is not sent again while the relay runs. A server
 * that says that it has no vision receives none.
 */
import { createHash } from 'node:crypto';
import type { Picture } from '../../../src/shared/domain/attachment.ts';
import { pictureHead } from '../../platform/picture.ts';
import type { MindBlock } from './messages.ts';
import type { MindRequest } from './requests.ts';
import { SIGHT_LIMITS } from './settings.ts';

/** A picture or PDF of a request. `name`: null where a tool returned it. */
export interface SeenFile {
  readonly digest: string;
  readonly name: string | null;
}

/** What is not sent. `all`: the model has no vision. */
export interface Unseen {
  readonly all: boolean;
  readonly out: ReadonlySet<string>;
  /** What is left out next, one set after the other. Null: nothing was refused yet. */
  readonly next: readonly ReadonlySet<string>[] | null;
}

export interface Sight {
  first(model: string, request: MindRequest): Unseen;
  /** Called after a refusal. Null: nothing more can be left out. */
  less(unseen: Unseen, said: string, request: MindRequest): Unseen | null;
  answered(model: string, unseen: Unseen, request: MindRequest): void;
}

const digests = new WeakMap<object, string>();

/** The digest of a block's file. Null: the block has none. */
export function digestOf(block: MindBlock): string | null {
  const shown = shownBy(block);
  if (shown === null) return null;
  const held = digests.get(block);
  if (held !== undefined) return held;
  const digest = createHash('sha256')
    .update(typeof shown === 'string' ? shown : shown.data)
    .digest('hex');
  digests.set(block, digest);
  return digest;
}

function shownBy(block: MindBlock): Picture | string | null {
  if (block.kind === 'picture') return block.picture;
  if (block.kind === 'document') return block.data;
  return block.kind === 'tool-result' ? (block.picture ?? null) : null;
}

const nameOf = (block: MindBlock) => (block.kind === 'picture' || block.kind === 'document' ? block.name : null);

/** All files of a request, oldest first, each once. */
export function filesIn({ messages }: Pick<MindRequest, 'messages'>): readonly SeenFile[] {
  const files = new Map<string, SeenFile>();
  for (const { blocks } of messages)
    for (const block of blocks) {
      const digest = digestOf(block);
      if (digest !== null) files.set(digest, { digest, name: nameOf(block) });
    }
  return [...files.values()];
}

/** A picture without a pixel. No server accepts it. */
function isEmpty(block: MindBlock): boolean {
  const shown = shownBy(block);
  if (shown === null || typeof shown === 'string') return false;
  const head = pictureHead(Buffer.from(shown.data, 'base64'));
  return head !== null && Math.min(head.width, head.height) === 0;
}

const SEEN = String.raw`image|picture|vision|visual|multi-?modal|media|base64|pdf|document|\b(?:png|jpe?g|gif|webp)\b`;
const SPEAKS_OF_SIGHT = new RegExp(SEEN, 'i');
const SEES_NOTHING = new RegExp(
  String.raw`(?:${SEEN})[^.]{0,80}\b(?:not|n't|un)[ -]?(?:support|available|enabled|allowed|capab)|\b(?:not|n't|no) (?:support|have|accept|allow)[^.]{0,60}(?:image|picture|vision|visual|multi-?modal)|mmproj`,
  'i',
);
/** The server cannot read this particular file. */
const READS_NOT_THIS =
  /format|mime|media[ _]type|file type|decod|corrupt|damag|broken|truncat|dimension|pixel|too (?:large|small|many)/i;
const seesNothing = (said: string) => SEES_NOTHING.test(said) && !READS_NOT_THIS.test(said);
/** Whether a server refuses a request because of its pictures or files. */
export const speaksOfSight = (said: string): boolean => SPEAKS_OF_SIGHT.test(said);

export function createSight({ official }: { readonly official: boolean }): Sight {
  const blind = new Set<string>();
  /** By digest: files that were accepted once, and files that were refused. */
  const acceptedDigests = new Set<string>();
  const refused = new Set<string>();
  /** The number of refused files by model, while none was accepted. */
  const misses = new Map<string, number>();
  const examined = new WeakSet<MindBlock>();

  function findEmpty({ messages }: MindRequest): void {
    for (const { blocks } of messages)
      for (const block of blocks) {
        if (examined.has(block)) continue;
        examined.add(block);
        if (isEmpty(block)) refused.add(digestOf(block) ?? '');
      }
  }

  /** The newest file is the most likely cause: earlier ones were accepted before. */
  function trials({ out }: Unseen, request: MindRequest): readonly ReadonlySet<string>[] {
    const shown = filesIn(request).filter(({ digest }) => !out.has(digest));
    const fresh = shown.filter(({ digest }) => !acceptedDigests.has(digest)).toReversed();
    const singles = fresh.slice(0, SIGHT_LIMITS.trials).map(({ digest }) => new Set([digest]));
    const groups = [fresh, shown].map((files) => new Set(files.map(({ digest }) => digest)));
    return [...singles, ...groups].filter(
      (each, i, all) => each.size > 0 && !all.slice(0, i).some((before) => isSame(before, each)),
    );
  }

  return {
    first(model, request) {
      findEmpty(request);
      const out = new Set(filesIn(request).flatMap(({ digest }) => (refused.has(digest) ? [digest] : [])));
      return { all: blind.has(model), out, next: null };
    },
    less(unseen, said, request) {
      if (unseen.all) return null;
      const next = unseen.next ?? trials(unseen, request);
      const [now, ...later] = next;
      if (!now) return null;
      if (unseen.next === null && seesNothing(said)) return { ...unseen, all: true, next: [] };
      // None of the files tried before was the only cause.
      const before =
        unseen.next === null ? unseen.out : new Set([...unseen.out].filter((digest) => refused.has(digest)));
      return { all: false, out: new Set([...before, ...now]), next: later };
    },
    answered(model, { all, out, next }, request) {
      if (all) {
        // Anthropic's models all have vision, so the file itself was the cause.
        if (next !== null && !official) blind.add(model);
        return;
      }
      const files = filesIn(request);
      for (const { digest } of files) if (!out.has(digest)) acceptedDigests.add(digest);
      const missed = [...out].filter((digest) => !refused.has(digest));
      // A file that was accepted before may be accepted again. It is only tried first next time.
      for (const digest of missed) if (!acceptedDigests.delete(digest)) refused.add(digest);
      if (files.length > out.size) misses.set(model, -Infinity);
      if (missed.length === 0 || official) return;
      misses.set(model, (misses.get(model) ?? 0) + 1);
      if ((misses.get(model) ?? 0) >= SIGHT_LIMITS.blindAfter) blind.add(model);
    },
  };
}

const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
  one.size === other.size && [...one].every((each) => other.has(each));
