/** Which modules of the page come together, for the build. */
import type { Rolldown } from 'vite';

type Graph = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>;

/** `start` and all that they import, not counting what they import later. */
function withImports(start: readonly string[], graph: Graph): Set<string> {
  const found = new Set(start);
  for (const id of found) for (const next of graph.getModuleInfo(id)?.importedIds ?? []) found.add(next);
  return found;
}

/**
 * Names, for a group of Rolldown's `codeSplitting`, the modules that these files import later, with
 * all that they need at once: what they import later in their turn, such as a library for something
 * rarely seen, stays by itself.
 *
 * @param name of the chunk.
 * @param files their absolute paths.
 */
export function fetchedBy(name: string, files: readonly string[]): (id: string, graph: Graph) => string | null {
  let found: Set<string> | null = null;
  return (id, graph) => {
    found ??= withImports(
      files.flatMap((file) => graph.getModuleInfo(file)?.dynamicallyImportedIds ?? []),
      graph,
    );
    return found.has(id) ? name : null;
  };
}
