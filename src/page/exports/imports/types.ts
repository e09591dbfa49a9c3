/** Files, previews and outcomes of imports from other products, as plain data. */
import type { SessionId } from '../../../shared/domain/ids.ts';

/** A file as the person chose it. `path`: within the chosen folder. */
export interface ChosenFile {
  readonly path: string;
  readonly file: Blob;
  /** ms since the epoch */
  readonly modifiedAt: number;
}

/** A text that becomes a file of the agent's memory. */
export interface ImportedFile {
  readonly format: string;
  /** A valid path of a memory. */
  readonly path: string;
  readonly text: string;
}

/** The text that would be the soul of a new agent. */
export interface ImportedSoul {
  readonly format: string;
  readonly path: string;
  readonly text: string;
  /** null: the files do not say. */
  readonly name: string | null;
}

/** Things that are in the files and not imported, all for one reason. */
export interface NotTaken {
  readonly reason: string;
  readonly count: number;
  /** Some of them, by name. */
  readonly examples: readonly string[];
}

/** A conversation of the preview, without its words. */
export interface ConversationSummary {
  readonly sessionId: SessionId;
  readonly format: string;
  /** '': it has none. */
  readonly title: string;
  /** Time of the first message, in ms since the epoch. */
  readonly time: number;
  readonly messages: number;
  /** The conversation is a branch that was not chosen. */
  readonly isBranch: boolean;
}

export interface MoveInPreview {
  /** Newest first. */
  readonly conversations: readonly ConversationSummary[];
  /** Texts that become memory. */
  readonly files: readonly ImportedFile[];
  readonly soul: ImportedSoul | null;
  readonly notTaken: readonly NotTaken[];
}

export interface MovedIn {
  readonly conversations: number;
  /** Documents that were passed on … */
  readonly documents: number;
  /** … how many of them were new … */
  readonly written: number;
  /** … and how many were refused, because they were forgotten here. */
  readonly forgotten: number;
}
