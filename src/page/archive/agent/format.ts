/**
 * One agent as a folder of plain files:
 *
 *     Lyra/README.txt         what this is
 *     Lyra/SOUL.md            the soul; alone it is enough to adopt somebody
 *     Lyra/identity.json      who it is, exactly: the documents of its birth and of every change since
 *     Lyra/transcripts/2026-11-21-<session>.jsonl   one conversation: a document per line
 *     Lyra/more.jsonl         what belongs to it beside that, where there is any
 *
 * Halves of surrogate pairs cannot be written as UTF-8: SOUL.md has U+FFFD in their places, and
 * identity.json has them escaped.
 */
import { z } from 'zod';
import { agentIdSchema, type Doc } from '../../../shared/protocol/documents.ts';

export const FILES = {
  readme: 'README.txt',
  soul: 'SOUL.md',
  identity: 'identity.json',
  transcripts: 'transcripts',
  transcriptEnd: '.jsonl',
  more: 'more.jsonl',
} as const;

export const identityFileSchema = z.looseObject({
  roost: z.literal('agent'),
  version: z.number().int().min(1),
  agentId: agentIdSchema,
  name: z.string(),
  /** ms since the epoch */
  exportedAt: z.number(),
  documents: z.array(z.unknown()),
});
export type IdentityFile = z.infer<typeof identityFileSchema>;

export const readmeOf = (
  name: string,
) => `${name} is an agent of a Roost household. This folder is all of ${name}, in plain files.

SOUL.md         The soul: the words ${name} wakes with. You can read and change it with any editor.
identity.json   Name, seat, birth, and every change since, exactly as the household keeps them.
transcripts     What was said, one file for each session. Each line is one document, as JSON.
more.jsonl      What else belongs to ${name}. It is there only if there is something.

To give ${name} a home: open Roost, choose an empty seat, choose "Adopt from a file", and pick this zip. If you
have unpacked it and changed something, pack the folder into a zip again first. SOUL.md alone is enough
to begin a new life; the other files bring the memories along.

Nothing in this folder is encrypted. Keep it as you would keep a diary.
`;

/** Oldest first, the same everywhere. */
export const byStamp = (a: Doc, b: Doc) => (a.at === b.at ? (a._id < b._id ? -1 : 1) : a.at < b.at ? -1 : 1);
