/** Merges lists of what happened, each read page by page, into one. Pure. */
import type { AgentId, ProjectId } from '../../../shared/domain/ids.ts';

interface LogEntry {
  readonly key: string;
  readonly agentId: AgentId;
  /** ms since the epoch. */
  readonly time: number;
}

export interface LogSource<Entry extends LogEntry> {
  /** Newest first, as far as they are read. */
  readonly entries: readonly Entry[];
  /** The relay has older ones. */
  readonly more: boolean;
}

export interface MergedLog<Entry extends LogEntry> {
  /** Newest first. */
  readonly entries: readonly Entry[];
  /** Positions of the sources that are to be read on, before older entries can be shown. */
  readonly behind: readonly number[];
}

/**
 * Entries of all sources, down to the moment to which every one of them is read. Below it, one
 * source may have entries between those of another that are not read yet.
 */
export function mergeLog<Entry extends LogEntry>(sources: readonly LogSource<Entry>[]): MergedLog<Entry> {
  const readTo = sources.map(({ entries, more }) => (more ? (entries.at(-1)?.time ?? Infinity) : -Infinity));
  const from = Math.max(-Infinity, ...readTo);
  return {
    entries: sources
      .flatMap(({ entries }) => entries)
      .filter(({ time }) => time >= from)
      .toSorted((a, b) => b.time - a.time),
    behind: readTo.flatMap((time, at) => (time === from && time > -Infinity ? [at] : [])),
  };
}

interface Attempt {
  readonly projectId: ProjectId;
  readonly agentId: AgentId;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Whether it happened while its agent worked on a task of the project. */
export const isOfProject = ({ agentId, time }: LogEntry, projectId: ProjectId, attempts: readonly Attempt[]): boolean =>
  attempts.some(
    (attempt) =>
      attempt.projectId === projectId &&
      attempt.agentId === agentId &&
      attempt.startedAt <= time &&
      time <= attempt.endedAt,
  );
