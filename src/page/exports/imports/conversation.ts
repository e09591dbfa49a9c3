/**
 * A conversation of another product as Roost stores it, and what its readers share: the paths of a
 * conversation with branches, and calls of tools with their results.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { inOneLine, THOUGHT } from '../../../shared/domain/talk.ts';
import type { Block } from '../../../shared/protocol/documents/fields.ts';
import { IMPORTS } from './settings.ts';

export interface ImportedMessage {
  /** Unique within its conversation, and the same in each export of it. */
  readonly sourceId: string;
  readonly author: 'human' | 'agent';
  readonly blocks: readonly Block[];
  /** ms since the epoch, as the export says. */
  readonly time: number;
  /** The model that wrote it; null: the export does not say, or the person wrote it. */
  readonly model: string | null;
}

export interface ImportedConversation {
  /** A row of the table of formats. */
  readonly format: string;
  /** Unique within its format, and the same in each export of it. */
  readonly sourceId: string;
  readonly title: string;
  /** The conversation from which this one branches off; null: it is the chosen path. */
  readonly branchOf: string | null;
  /** Oldest first, at least one. */
  readonly messages: readonly ImportedMessage[];
}

/** Something that is in the files and not imported. `what`: one of them, by name. */
export type NoteNotTaken = (reason: string, what: string, count?: number) => void;

/** Whether one of the pieces is longer than a message may be. */
export const isTooLong = (pieces: readonly Piece[]): boolean =>
  pieces.some((piece) => 'text' in piece && piece.text.length > IMPORTS.messageChars);

const EMPTY = sentence`empty messages, conversations or texts`;

export const NOT_TAKEN = {
  empty: EMPTY,
  system: sentence`instructions and marks of the other product`,
  media: sentence`pictures, recordings and other files: their content is not in the text of the export`,
  tooLong: sentence`messages longer than ${IMPORTS.messageChars.toLocaleString('en')} characters`,
  noMessages: EMPTY,
  tooMany: sentence`messages beyond the first ${IMPORTS.messages.toLocaleString('en')} of a conversation, or its first ${IMPORTS.branches} branches`,
} as const;

// A conversation is a tree: an edited message and an answer that was asked for again begin a
// branch.

interface TreeNode {
  readonly id: string;
  readonly parent: string | null;
  /** ms since the epoch; null: unknown. */
  readonly time: number | null;
}

export interface Paths<Node> {
  /** The chosen path, oldest first. */
  readonly main: readonly Node[];
  /** What only this branch has, oldest first. `from`: the node after which it begins. */
  readonly branches: readonly { readonly nodes: readonly Node[]; readonly from: Node | null }[];
}

/**
 * The paths of a tree. Only `parent` counts. `current` is the end of the chosen path. Without it,
 * the path that was continued last is the chosen one. Each node is in one path; a circle is cut.
 */
export function pathsOf<Node extends TreeNode>(nodes: ReadonlyMap<string, Node>, current: string | null): Paths<Node> {
  const parents = new Set([...nodes.values()].map(({ parent }) => parent));
  const leaves = [...nodes.values()].filter(({ id }) => !parents.has(id));
  const newestFirst = leaves.reverse().sort((a, b) => (b.time ?? 0) - (a.time ?? 0));
  const visited = new Set<string>();
  const upFrom = (end: Node) => {
    const path: Node[] = [];
    let node: Node | undefined = end;
    while (node && !visited.has(node.id)) {
      visited.add(node.id);
      path.push(node);
      node = node.parent === null ? undefined : nodes.get(node.parent);
    }
    return { from: node && !path.includes(node) ? node : null, nodes: path.reverse() };
  };
  const end = (current === null ? undefined : nodes.get(current)) ?? newestFirst[0] ?? [...nodes.values()].at(-1);
  const main = end ? upFrom(end).nodes : [];
  const branches = [];
  // Nodes of a circle have no leaf. They come last.
  for (const leaf of [...newestFirst.reverse(), ...nodes.values()])
    if (!visited.has(leaf.id)) branches.push(upFrom(leaf));
  return { main, branches };
}

// What was said, piece by piece, and the messages that it becomes. An answer with its calls and
// their results is one message, as in Roost.

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly callId: string; readonly name: string; readonly input: unknown }
  | {
      readonly kind: 'result';
      /** null: the export does not say which call it answers. */
      readonly callId: string | null;
      readonly name: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface Said extends TreeNode {
  readonly author: 'human' | 'agent';
  readonly model: string | null;
  readonly pieces: readonly Piece[];
}

/** What the person said first. '': it is no text. */
export function firstWords(said: ReadonlyMap<string, Said>): string {
  const first = [...said.values()].find(({ author }) => author === 'human')?.pieces[0];
  return first?.kind === 'text' ? first.text : '';
}

type ToolBlock = Extract<Block, { kind: 'tool' }>;
const toolBlock = (toolUseId: string, name: string, input: unknown): ToolBlock => ({
  kind: 'tool',
  toolUseId,
  name,
  input,
  result: null,
  isError: false,
});

/** The blocks of messages that follow each other. */
function blocksOf(messages: readonly Said[]): Block[] {
  const blocks: Block[] = [];
  const unanswered: ToolBlock[] = [];
  for (const { id, pieces } of messages)
    for (const [n, piece] of pieces.entries()) {
      if (piece.kind === 'text') blocks.push({ kind: 'text', text: piece.text });
      else if (piece.kind === 'thought')
        blocks.push({ ...toolBlock(`${id}-${n}`, THOUGHT, {}), result: piece.text, isError: false });
      else if (piece.kind === 'call') {
        const block = toolBlock(piece.callId, piece.name, piece.input);
        blocks.push(block);
        unanswered.push(block);
      } else {
        const at = unanswered.findIndex(({ toolUseId }) => piece.callId === null || toolUseId === piece.callId);
        const call = unanswered[at];
        const answered = {
          ...(call ?? toolBlock(piece.callId ?? `${id}-${n}`, piece.name, {})),
          result: piece.text,
          isError: piece.isError,
        };
        if (call) {
          unanswered.splice(at, 1);
          blocks[blocks.indexOf(call)] = answered;
        } else blocks.push(answered);
      }
    }
  return blocks;
}

/** `fallback`: the time of messages before the first that has one, in ms since the epoch. */
export function messagesOf(said: readonly Said[], fallback: number): ImportedMessage[] {
  const turns: Said[][] = [];
  for (const one of said) {
    const last = turns.at(-1);
    if (one.author === 'agent' && last?.[0]?.author === 'agent') last.push(one);
    else turns.push([one]);
  }
  let time = fallback;
  return turns.flatMap((turn) => {
    const [first] = turn;
    if (!first) return [];
    time = turn.find((one) => one.time !== null)?.time ?? time;
    const model = turn.find((one) => one.model !== null)?.model ?? null;
    return [{ sourceId: first.id, author: first.author, blocks: blocksOf(turn), time, model }];
  });
}

interface SaidConversation {
  readonly format: string;
  readonly sourceId: string;
  /** '': none. */
  readonly title: string;
  readonly said: ReadonlyMap<string, Said>;
  /** The end of the chosen path; null: unknown. */
  readonly current: string | null;
  /** The time of messages without any, in ms since the epoch. */
  readonly fallback: number;
  /** Nodes that were left out, by their parents, so that paths lead through them. */
  readonly skipped: ReadonlyMap<string, string | null>;
}

/** Finds the nearest ancestor that has words. Each node that was left out is passed only once. */
function createAncestors({ said, skipped }: SaidConversation): (parent: string | null) => string | null {
  const ancestors = new Map<string, string | null>();
  return (parent) => {
    const passed: string[] = [];
    let id = parent;
    while (id !== null && !said.has(id)) {
      const before = ancestors.get(id);
      if (before !== undefined) {
        id = before;
        break;
      }
      // The null also ends a circle.
      ancestors.set(id, null);
      passed.push(id);
      id = skipped.get(id) ?? null;
    }
    for (const each of passed) ancestors.set(each, id);
    return id;
  };
}

/** The chosen path and each branch, each as a conversation. */
export function conversationsOf(whole: SaidConversation, note: NoteNotTaken): ImportedConversation[] {
  const { format, sourceId, fallback, current } = whole;
  const nodes = new Map<string, Said>();
  const ancestorOf = createAncestors(whole);
  for (const [id, one] of whole.said) nodes.set(id, { ...one, parent: ancestorOf(one.parent) });
  const title = inOneLine(whole.title, IMPORTS.titleChars);
  if (nodes.size === 0) {
    note(NOT_TAKEN.noMessages, title);
    return [];
  }
  const { main, branches } = pathsOf(nodes, ancestorOf(current));
  const chosen: ImportedConversation = {
    ...{ format, sourceId, title, branchOf: null },
    messages: messagesOf(main, fallback),
  };
  const nodeCount = branches.slice(IMPORTS.branches).reduce((sum, branch) => sum + branch.nodes.length, 0);
  if (nodeCount > 0) note(NOT_TAKEN.tooMany, title, nodeCount);
  return [
    chosen,
    ...branches.slice(0, IMPORTS.branches).flatMap((branch): ImportedConversation[] => {
      const [first] = branch.nodes;
      if (!first) return [];
      // An answer that was asked for again is read with its question.
      const question = first.author === 'agent' && branch.from?.author === 'human' ? [branch.from] : [];
      return [
        {
          ...{ format, sourceId: `${sourceId}/${first.id}`, title, branchOf: sourceId },
          messages: messagesOf([...question, ...branch.nodes], fallback),
        },
      ];
    }),
  ];
}
