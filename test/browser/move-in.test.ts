/** Moving in from another product, as a person does it: files, preview, an agent's past. */
import { describe, it, onTestFinished } from 'vitest';
import { createGuest, QUIET } from '../support/chromium.ts';
import { chatGptAsked, chatGptConversation, chatGptSaid, chatGptShort } from '../support/other-exports.ts';
import { startRelay } from '../support/relay.ts';
import { createVisitor, goWithin } from '../support/visitor.ts';

/** ms: a busy machine is not a failure. */
const PATIENCE = 300_000;

const LAKE = chatGptConversation(
  'lake',
  [
    { id: 'root', parent: null },
    chatGptAsked('q', 'root', 'How deep is the lake?'),
    chatGptSaid('a', 'q', 'Nobody knows.', 2),
    chatGptSaid('b', 'q', 'Forty metres.', 3),
  ],
  { title: 'The lake' },
);
/** It ends in the middle. */
const BROKEN = '[{"id": "x"';
const EXPORT = [LAKE, chatGptShort('bridge', 'Does the bridge hold?', 'It holds.')];

describe('the page for moving in', () => {
  it(
    'makes conversations of ChatGPT the past of a new agent, and changes nothing the second time',
    { timeout: PATIENCE },
    async () => {
      const relay = await startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
      const profile = createGuest();
      onTestFinished(async () => {
        await profile.remove();
        await relay.stop();
      });
      const visitor = await createVisitor(
        await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET }),
        relay.link,
      );
      const { page } = visitor;
      await visitor.begin();

      const choose = async (content: string) => {
        await goWithin(page, '/move-in');
        await page
          .getByLabel('Choose files')
          .setInputFiles([
            { name: 'conversations-000.json', mimeType: 'application/json', buffer: Buffer.from(content) },
            ...(content === BROKEN
              ? []
              : [{ name: 'ada.md', mimeType: 'text/markdown', buffer: Buffer.from('Likes lakes.') }]),
          ]);
      };
      await choose(BROKEN);
      await page.getByText('There is nothing to import in conversations-000.json').waitFor();
      await choose(JSON.stringify(EXPORT));
      await page.getByText('6 messages from ChatGPT').waitFor();
      await page.getByText('Branch of The lake').waitFor();
      await page.getByLabel('Name').fill('Wren');
      await visitor.press('Move in');
      await page.getByText('3 conversations, 12 new entries.').waitFor();

      await page.getByText('1 file in its memory').waitFor();
      await page.getByRole('link', { name: 'Memory' }).click();
      await page.getByText('text-files/ada.md').waitFor();
      await page.getByText('after reading text of others').waitFor();
      await goWithin(page, '/move-in');
      await page.getByRole('link', { name: 'Conversations' }).click();
      await page.getByText('You: Does the bridge hold?').waitFor();
      await page.getByText('ChatGPT: The lake', { exact: true }).waitFor();
      await page.getByText('ChatGPT: branch of The lake', { exact: true }).waitFor();
      await page.getByText('You: How deep is the lake?').first().click();
      await page.getByText('Forty metres.').waitFor();

      await goWithin(page, '/move-in');
      await visitor.press('Choose files');
      await choose(JSON.stringify(EXPORT));
      await page.getByLabel('For', { exact: true }).selectOption({ label: 'Wren' });
      await visitor.press('Move in');
      await page.getByText('Nothing is new.').waitFor();
    },
  );
});
