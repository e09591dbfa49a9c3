/** Reads files as the page’s worker does, without a worker. */
import type { Found } from '../../../../../src/page/exports/imports/formats.ts';
import type { ChosenFile } from '../../../../../src/page/exports/imports/types.ts';
import { createNotTaken, readFiles, sourceFiles } from '../../../../../src/page/exports/imports/formats.ts';
import type { Block } from '../../../../../src/shared/protocol/documents/fields.ts';

const MODIFIED_AT = Date.UTC(2026, 7, 26);

/** Texts and bytes by path, as chosen files. */
export const chosenFiles = (files: Readonly<Record<string, string | Uint8Array | object>>): ChosenFile[] =>
  Object.entries(files).map(([path, content]) => ({
    path,
    modifiedAt: MODIFIED_AT,
    file: new Blob([
      typeof content === 'string'
        ? content
        : content instanceof Uint8Array
          ? new Uint8Array(content)
          : JSON.stringify(content),
    ]),
  }));

export async function readAll(files: Readonly<Record<string, string | Uint8Array | object>>) {
  const notTaken = createNotTaken();
  const found: Found[] = [];
  for await (const one of readFiles(await sourceFiles(chosenFiles(files)), { note: notTaken.note })) found.push(one);
  return {
    conversations: found.flatMap((one) => (one.kind === 'conversation' ? [one.conversation] : [])),
    files: found.flatMap((one) => (one.kind === 'file' ? [one.file] : [])),
    souls: found.flatMap((one) => (one.kind === 'soul' ? [one.soul] : [])),
    notTaken: notTaken.list().map(({ reason, count }) => [reason, count]),
  };
}

/** A block in a few words: a text, a thought, or `tool(input) result`. */
export const shortly = (block: Block): string =>
  block.kind === 'text' ? block.text : block.kind === 'tool' ? `${block.name}: ${block.result ?? '…'}` : block.kind;
