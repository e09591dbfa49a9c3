/**
 * Moving in from other products: reads their exports, whatever they are packed in. Each format has
 * a reader and a row in the table below. A format is recognised by the content of a file, never by
 * its name alone. Readers are pure: they get files and return what is in them. Nothing of a file is
 * run or followed, and paths are only names.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { memoryPathFault } from '../../../shared/domain/memory.ts';
import { bytesOf, isRecord } from '../../../shared/domain/platform/json.ts';
import { inOneLine } from '../../../shared/domain/talk.ts';
import { fileChunks, joined } from '../bytes.ts';
import { ExportError } from '../methods.ts';
import { readText, zipEntries } from '../zip.ts';
import { CHATGPT, chatGptConversations, isChatGpt } from './chatgpt.ts';
import {
  CLAUDE,
  claudeConversations,
  claudeMemoryFiles,
  claudeProjectFiles,
  isClaude,
  isClaudeMemory,
  isClaudeProject,
} from './claude.ts';
import { CLAUDE_CODE, claudeCodeConversations, isClaudeCode } from './claude-code.ts';
import { type ImportedConversation, NOT_TAKEN, type NoteNotTaken } from './conversation.ts';
import type { Fields } from './fields.ts';
import { jsonValues, looksLikeJson } from './json-values.ts';
import { isLetta, LETTA, lettaAgents } from './letta.ts';
import { isOpenClaw, OPENCLAW, openClawConversations } from './openclaw.ts';
import { readFolder, type TextFile } from './folder.ts';
import { IMPORTS } from './settings.ts';
import type { ChosenFile, ImportedFile, ImportedSoul, NotTaken } from './types.ts';

/** A chosen file, or one in a chosen zip. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
  chunks(): AsyncIterable<Uint8Array>;
}

export type Found =
  | { readonly kind: 'conversation'; readonly conversation: ImportedConversation }
  | { readonly kind: 'file'; readonly file: ImportedFile }
  | { readonly kind: 'soul'; readonly soul: ImportedSoul };

/** Reads JSON files. Texts have their own reader, `readFolder`, which needs all of them at once. */
interface JsonReader {
  readonly format: string;
  /** Is this value of its format? */
  is(value: Fields): boolean;
  /** Left out: `readAll` reads the values of a file together. */
  read?(value: Fields, file: SourceFile, note: NoteNotTaken): readonly Found[];
  /** The values of one file that are of this format, in order. */
  readAll?(values: readonly Fields[], file: SourceFile, note: NoteNotTaken): readonly Found[];
}

const conversations = (found: readonly ImportedConversation[]): readonly Found[] =>
  found.map((conversation) => ({ kind: 'conversation', conversation }));

const filesOf = (format: string, files: readonly TextFile[]): readonly Found[] =>
  files.map((file) => ({ kind: 'file', file: { format, ...file } }));

/** The formats whose files are JSON. */
const JSON_READERS: readonly JsonReader[] = [
  {
    format: CHATGPT,
    is: isChatGpt,
    read: (value, { modifiedAt }, note) => conversations(chatGptConversations(value, modifiedAt, note)),
  },
  {
    format: CLAUDE,
    is: isClaude,
    read: (value, { modifiedAt }, note) => conversations(claudeConversations(value, modifiedAt, note)),
  },
  { format: CLAUDE, is: isClaudeProject, read: (value) => filesOf(CLAUDE, claudeProjectFiles(value)) },
  { format: CLAUDE, is: isClaudeMemory, read: (value) => filesOf(CLAUDE, claudeMemoryFiles(value)) },
  {
    format: LETTA,
    is: isLetta,
    read: (value, { path, modifiedAt }, note) =>
      lettaAgents(value, path, modifiedAt, note).flatMap(({ name, persona, files, conversations: found }): Found[] => [
        ...conversations(found),
        ...filesOf(LETTA, files),
        ...(persona === null ? [] : [{ kind: 'soul' as const, soul: { format: LETTA, path, text: persona, name } }]),
      ]),
  },
  {
    format: CLAUDE_CODE,
    is: isClaudeCode,
    readAll: (values, { path, modifiedAt }, note) =>
      conversations(claudeCodeConversations(values, path, modifiedAt, note)),
  },
  {
    format: OPENCLAW,
    is: isOpenClaw,
    readAll: (values, { path, modifiedAt }, note) =>
      conversations(openClawConversations(values, path, modifiedAt, note)),
  },
];

const TOO_LARGE = sentence`There is more in these files than one import can read. Choose fewer files at once.`;
const OTHER_FORMAT = sentence`entries and files in an unknown format`;
const BAD_PATH = sentence`texts whose path no memory can have`;
const FULL = sentence`texts over ${IMPORTS.textBytes / 1_000} KB, or beyond the ${IMPORTS.memoryBytes / 1_000} KB of a memory`;
const LARGE_FILE = sentence`parts of a file that is too large`;
const NESTED = sentence`zips within a zip`;
const TWICE = sentence`conversations that are in the files twice`;
const BAD_ZIP = (path: string, why: string) => sentence`The zip ${path} cannot be read: ${why}`;

const ZIP_LIMITS = { entries: IMPORTS.files, unpackedBytes: Number.MAX_SAFE_INTEGER, tooLarge: TOO_LARGE };
const HEAD_BYTES = 512;

async function headOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  for await (const chunk of chunks) return chunk.subarray(0, HEAD_BYTES);
  return new Uint8Array(0);
}
const isZip = (head: Uint8Array) => head[0] === 0x50 && head[1] === 0x4b;
/** Files that systems and version control leave in folders. */
const isJunk = (path: string) =>
  path
    .split('/')
    .some((part) => part === '__MACOSX' || part === '.git' || /^(\.ds_store|thumbs\.db|desktop\.ini)$/i.test(part));

/**
 * All chosen files, and those in chosen zips. Rejects with an `ExportError` that names the file.
 */
export async function sourceFiles(chosen: readonly ChosenFile[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const { path, file, modifiedAt } of chosen) {
    const plain = { path, bytes: file.size, modifiedAt, chunks: () => fileChunks(file) };
    if (!isZip(await headOf(plain.chunks()))) files.push(plain);
    else
      try {
        files.push(...(await zipEntries(file, ZIP_LIMITS)));
      } catch (error) {
        if (!(error instanceof ExportError)) throw error;
        throw new ExportError(error.kind, BAD_ZIP(path, error.message), { cause: error });
      }
    if (files.length > IMPORTS.files) throw new ExportError('too-large', TOO_LARGE);
  }
  return files.filter(({ path }) => !isJunk(path));
}

async function* withFirst(first: Uint8Array, rest: AsyncIterable<Uint8Array>) {
  yield first;
  yield* rest;
}

export interface Reading {
  /** What was read so far, as a share of all bytes. */
  readonly onBytes?: (done: number, of: number) => void;
  readonly note: NoteNotTaken;
}

/** Collects what is not taken, by its reason. */
export function createNotTaken(): { readonly note: NoteNotTaken; list(): NotTaken[] } {
  const byReason = new Map<string, { count: number; readonly examples: string[] }>();
  return {
    note(reason, what, count = 1) {
      const entry = byReason.get(reason) ?? { count: 0, examples: [] };
      if (byReason.size >= IMPORTS.reasons && !byReason.has(reason)) return;
      entry.count += count;
      const name = inOneLine(what, IMPORTS.titleChars);
      if (name !== '' && entry.examples.length < IMPORTS.examples && !entry.examples.includes(name))
        entry.examples.push(name);
      byReason.set(reason, entry);
    },
    list: () => [...byReason].map(([reason, { count, examples }]) => ({ reason, count, examples })),
  };
}

/**
 * Everything in these files, one after the other. Only one conversation is in memory at a time.
 * Texts that no memory can hold are left out.
 */
export async function* readFiles(
  files: readonly SourceFile[],
  reading: Reading,
): AsyncGenerator<Found, void, undefined> {
  let bytes = 0;
  for await (const item of foundIn(files, reading)) {
    if (item.kind !== 'file') {
      yield item;
      continue;
    }
    const { path, text } = item.file;
    const size = bytesOf(text);
    if (text.trim() === '') reading.note(NOT_TAKEN.empty, path);
    else if (memoryPathFault(path) !== null) reading.note(BAD_PATH, path);
    else if (size > IMPORTS.textBytes) reading.note(FULL, path);
    else if (bytes + size > IMPORTS.memoryBytes) reading.note(FULL, path);
    else {
      bytes += size;
      yield item;
    }
  }
}

/** A file in a zip is damaged, or locked. The others can be read. */
class FileFault extends Error {}

async function* wholeChunks(file: SourceFile) {
  try {
    yield* file.chunks();
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    throw new FileFault(error.kind === 'too-large' ? LARGE_FILE : error.message, { cause: error });
  }
}

async function* foundIn(
  files: readonly SourceFile[],
  { note, onBytes }: Reading,
): AsyncGenerator<Found, void, undefined> {
  const of = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  let read = 0;
  let readHere = 0;
  const counted = async function* (file: SourceFile) {
    for await (const chunk of wholeChunks(file)) {
      read += chunk.length;
      readHere += chunk.length;
      if (read > IMPORTS.totalBytes) throw new ExportError('too-large', TOO_LARGE);
      yield chunk;
      onBytes?.(done + Math.min(file.bytes, readHere), of);
    }
  };
  const messageIds = new Set<string>();
  const texts: TextFile[] = [];
  for (const file of files) {
    const chunks = counted(file);
    try {
      const first = (await chunks.next()).value ?? new Uint8Array(0);
      const head = first.subarray(0, HEAD_BYTES);
      if (isZip(head)) note(NESTED, file.path);
      else if (looksLikeJson(head)) {
        for await (const found of jsonFile(file, withFirst(first, chunks), note)) {
          if (found.kind === 'conversation') {
            const { format, sourceId, title } = found.conversation;
            const key = JSON.stringify([format, sourceId]);
            if (messageIds.has(key)) {
              note(TWICE, title);
              continue;
            }
            messageIds.add(key);
            if (messageIds.size > IMPORTS.conversations) throw new ExportError('too-large', TOO_LARGE);
          }
          yield found;
        }
      } else {
        const text = await textIn(file, withFirst(first, chunks), note);
        if (text !== null) texts.push({ path: file.path, text });
      }
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      note(error.message, file.path);
    }
    await chunks.return();
    done += file.bytes;
    readHere = 0;
    onBytes?.(done, of);
  }
  const folder = readFolder(texts, note);
  for (const file of folder.files) yield { kind: 'file', file };
  if (folder.soul) yield { kind: 'soul', soul: folder.soul };
}

const IS_TEXT = /\.(md|markdown|txt)$/i;

/** The text of a file that could be memory. Null: it is none. */
async function textIn(file: SourceFile, chunks: AsyncIterable<Uint8Array>, note: NoteNotTaken): Promise<string | null> {
  if (!IS_TEXT.test(file.path)) {
    note(OTHER_FORMAT, file.path);
    return null;
  }
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > IMPORTS.textBytes) {
      note(FULL, file.path);
      return null;
    }
  }
  const read = readText(joined(parts));
  if (read === null) note(OTHER_FORMAT, file.path);
  return read?.text.replace(/^\ufeff/, '') ?? null;
}

async function* jsonFile(
  file: SourceFile,
  chunks: AsyncIterable<Uint8Array>,
  note: NoteNotTaken,
): AsyncGenerator<Found, void, undefined> {
  const together = new Map<JsonReader, Fields[]>();
  for await (const each of jsonValues(chunks)) {
    if (each.kind === 'fault') {
      note(each.reason, file.path);
      continue;
    }
    const { value } = each;
    const reader = isRecord(value) ? JSON_READERS.find((one) => one.is(value)) : undefined;
    if (!reader || !isRecord(value)) note(OTHER_FORMAT, file.path);
    else if (reader.read) yield* reader.read(value, file, note);
    else if (file.bytes > IMPORTS.wholeBytes) note(LARGE_FILE, file.path);
    else {
      const values = together.get(reader);
      if (values) values.push(value);
      else together.set(reader, [value]);
    }
  }
  for (const [reader, values] of together) yield* reader.readAll?.(values, file, note) ?? [];
}
