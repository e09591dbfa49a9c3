/** Limits of imports from other products. Files that go beyond one are listed as not taken. */
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { MEMORY_LIMITS } from '../../../shared/domain/memory.ts';

const MIB = 1024 * 1024;

export const IMPORTS = {
  /** Files that are chosen together, with those in their zips. */
  files: 100_000,
  /** Bytes of all files that are read, unpacked. */
  totalBytes: 8_192 * MIB,
  /** Bytes of one conversation as JSON, or of one line. */
  valueBytes: 64 * MIB,
  /** Bytes of a file that is read as a whole: a session of Claude Code, an agent file. */
  wholeBytes: 256 * MIB,
  /** Nesting depth of one conversation as JSON. */
  depth: 200,
  /** Conversations of one import. */
  conversations: 200_000,
  /** Messages of one conversation, with those of its branches. */
  messages: 100_000,
  /** Branches of one conversation that become conversations of their own. */
  branches: 200,
  /** Characters of one message, and of one tool's input or result. */
  messageChars: LIMITS.messageText,
  /** Characters of a title. */
  titleChars: 200,
  /** Bytes of one text file that becomes memory, and of all of them. */
  textBytes: MEMORY_LIMITS.fileBytes,
  memoryBytes: MEMORY_LIMITS.bytes,
  /** Different reasons for which something was not taken, of which the preview has a line. */
  reasons: 200,
  /** Names of things that a line of the preview shows. */
  examples: 3,
} as const;
