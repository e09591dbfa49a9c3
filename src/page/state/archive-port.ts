/** The archive as the page holds it: fetched after the page is painted, not with it. */
import type { Archive } from '../archive/index.ts';
import { t } from '../language/t.ts';

const MISSING = t`The part of Roost that packs and unpacks files could not be fetched. Start the relay, reload the page, and try again; nothing was changed.`;

/**
 * Fetches the archive when it is first asked for anything. Calls reject with a sentence where it
 * did not come.
 */
export function createArchivePort(load: () => Promise<Archive>): Archive {
  let loading: Promise<Archive> | null = null;
  const archive = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw new Error(MISSING, { cause: error });
    }));
  return {
    // What did not come is said when it is needed.
    warm: () =>
      archive().then(
        (loaded) => loaded.warm(),
        () => undefined,
      ),
    exportHousehold: async (options) => (await archive()).exportHousehold(options),
    openArchive: async (...args) => (await archive()).openArchive(...args),
    importArchive: async (...args) => (await archive()).importArchive(...args),
    exportAgent: async (options) => (await archive()).exportAgent(options),
    readAgentZip: async (...args) => (await archive()).readAgentZip(...args),
  };
}
