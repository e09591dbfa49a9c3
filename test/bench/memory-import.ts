/**
 * Moving in with years of another product: conversations of ChatGPT in many files, from the choice
 * of the files to the agent whose past they are. The page, its worker and the relay are real.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatGptAsked, chatGptConversation, chatGptSaid } from '../support/other-exports.ts';
import { heldUp } from '../support/held-up.ts';
import { createRandom } from '../support/random.ts';
import { createVisitor, goWithin } from '../support/visitor.ts';
import { definePart, withOpened } from './part.ts';

/** `turns` of a conversation, `words` of a message. One in `unreadableOf` has no messages. */
const FULL = { conversations: 10_000, files: 50, turns: 3, words: 40, unreadableOf: 500 };
const SMOKE: typeof FULL = { conversations: 8, files: 2, turns: 1, words: 5, unreadableOf: 4 };
type Sizes = typeof FULL;
const LIMIT = { seconds: 60, taskMs: 50 } as const;
const WORDS = ['lake', 'bridge', 'copper', 'winter', 'letter', 'harbour', 'and', 'the', 'of', 'slowly', 'never', 'was'];
/** ms: a slow machine is no failure. */
const PATIENCE = 600_000;

interface Years {
  /** JSON by file name. */
  readonly files: readonly (readonly [name: string, json: string])[];
  readonly readable: number;
  readonly messages: number;
  readonly bytes: number;
}

function yearsOf({ conversations, files, turns, words, unreadableOf }: Sizes): Years {
  const random = createRandom(1);
  const say = () => Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
  const all = Array.from({ length: conversations }, (_none, n) => {
    if (n % unreadableOf === unreadableOf - 1) return { id: `c${n}`, title: 'Nothing in it' };
    const nodes = Array.from({ length: turns }, (_turn, turn) => [
      chatGptAsked(`q${turn}`, turn === 0 ? 'root' : `a${turn - 1}`, say(), turn * 60),
      chatGptSaid(`a${turn}`, `q${turn}`, say(), turn * 60 + 30),
    ]);
    return chatGptConversation(`c${n}`, [{ id: 'root', parent: null }, ...nodes.flat()]);
  });
  const inFile = Math.ceil(all.length / files);
  const written = Array.from({ length: files }, (_none, n) => {
    const json = JSON.stringify(all.slice(n * inFile, (n + 1) * inFile));
    return [`conversations-${String(n).padStart(3, '0')}.json`, json] as const;
  });
  const readable = conversations - Math.floor(conversations / unreadableOf);
  return {
    files: written,
    readable,
    messages: readable * turns * 2,
    bytes: written.reduce((sum, [, json]) => sum + json.length, 0),
  };
}

/** Some three minutes, most of them for writing the files. */
export const memoryImport = definePart({
  name: 'memory-import',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const relay = keep(
        await place.startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] }),
        (one) => one.stop(),
      );
      const profile = keep(await place.newProfile(), (one) => one.remove());
      const context = keep(await profile.open({ viewport: { width: 1440, height: 900 } }), (one) => one.close());
      const visitor = await createVisitor(context, relay.link);
      const { page } = visitor;
      page.setDefaultTimeout(PATIENCE);
      await visitor.begin();
      const { files, readable, messages, bytes } = yearsOf(sizes);
      const folder = keep(mkdtempSync(join(tmpdir(), 'roost-years-')), (path) => rmSync(path, { recursive: true }));
      const paths = files.map(([name, json]) => {
        writeFileSync(join(folder, name), json);
        return join(folder, name);
      });
      await goWithin(page, '/move-in');
      const read = await heldUp(page, async () => {
        const began = performance.now();
        await page.getByLabel('Choose files').setInputFiles(paths);
        await page.getByText(`${messages.toLocaleString('en')} messages from ChatGPT`).waitFor();
        return (performance.now() - began) / 1_000;
      });
      await page.getByLabel('Name').fill('Wren');
      const taken = await heldUp(page, async () => {
        const began = performance.now();
        await visitor.press('Move in');
        await page.getByText(`${readable.toLocaleString('en')} conversations, `).waitFor();
        return (performance.now() - began) / 1_000;
      });
      const listed = sizes.conversations - readable;
      return {
        title: 'Moving in with years of another product',
        method: `${sizes.conversations.toLocaleString('en')} conversations of ChatGPT in ${sizes.files} files, ${(bytes / 1e6).toFixed(1)} MB; ${listed} have no messages; the built page on its relay`,
        figures: [
          {
            what: `${readable.toLocaleString('en')} conversations read, shown and written`,
            value: read.result + taken.result,
            unit: 's',
            beside: {
              kind: 'limit',
              what: `${read.result.toFixed(1)} s to the preview, ${taken.result.toFixed(1)} s to the end`,
              value: LIMIT.seconds,
            },
          },
          {
            what: '  longest task of the page, by the processor',
            value: Math.max(read.held.longest, taken.held.longest),
            unit: 'ms',
            beside: {
              kind: 'limit',
              what: `${Math.round(read.held.longest)} ms to the preview, ${Math.round(taken.held.longest)} ms to the end`,
              value: LIMIT.taskMs,
            },
          },
        ],
      };
    }),
});
