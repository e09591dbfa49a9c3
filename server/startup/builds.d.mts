/** Every file at `path`, a file or a folder, in a stable order. Empty where nothing is there. */
export function filesAt(path: string): string[];
/**
 * The name of a build of these files and folders below `root`, by default the sources. It changes
 * with any of them.
 */
export function nameOfSources(root: string, sources?: readonly string[]): string;
/**
 * Records that this process uses the build that contains this folder, so that the build stays. Does
 * nothing for a folder outside a build.
 */
export function useBuildOf(root: string, part: string): void;
