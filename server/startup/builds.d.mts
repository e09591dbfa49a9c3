/**
 * Every file at `path`, a file or a folder, in the same order everywhere; none where nothing is
 * there.
 */
export function filesAt(path: string): string[];
/**
 * The name of what is made from these files and folders below `root`, by default those of a build:
 * it changes with any of them.
 */
export function nameOfSources(root: string, sources?: readonly string[]): string;
/**
 * Says that this process uses the build that this folder is a part of, so that it stays; nothing
 * where it is a part of none.
 */
export function useBuildOf(root: string, part: string): void;
