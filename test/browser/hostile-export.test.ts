/**
 * A copy of a stranger’s, with records that mean harm: it is opened in a real browser, given to the
 * relay, and looked at. Nothing of it runs, and no page breaks.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createGuest, QUIET } from '../support/chromium.ts';
import { hostileDocs } from '../support/hostile-docs.ts';
import { startRelay } from '../support/relay.ts';
import { createVisitor, goWithin } from '../support/visitor.ts';
import { writeSeed } from '../workshop/seed/household.ts';

const PATIENCE = 300_000;
it(
  'A stranger’s copy with hostile records runs nothing in the page or at the relay, and breaks no page',
  {
    timeout: PATIENCE,
  },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-hostile-copy-'));
    const marker = join(folder, 'was-here');
    const path = join(folder, 'copy.roost');
    await writeSeed({ size: 'small', path, exportedAt: Date.now(), more: hostileDocs(marker) });
    const relay = await startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
    const profile = createGuest();
    try {
      const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
      const visitor = await createVisitor(context, relay.link);
      const { page } = visitor;
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await visitor.press('I have an export');
      await page.locator('input[type=file]:not(.compose *)').setInputFiles(path);
      await page.getByRole('group', { name: 'Agents' }).waitFor();
      // All that the copy would bring is allowed.
      for (const box of await page.getByRole('dialog').getByRole('checkbox', { checked: false }).all())
        await box.check();
      await visitor.picture('hostile-copy-import');
      await visitor.press('Import');
      await visitor.untilAll('sleeping');

      const card = page.getByRole('region', { name: 'What the relay does not know' });
      await card.getByText('Details', { exact: true }).click();
      await visitor.picture('hostile-copy-offer');
      // No letter turns the command beside a name around.
      expect(await card.getByText(/The MCP server/).textContent()).toContain('⟨U+202E⟩');
      await card
        .getByText(/^The project “/)
        .first()
        .waitFor();
      await card.getByRole('button', { name: 'Give them back' }).click();
      await card.getByRole('status').waitFor();
      await visitor.picture('hostile-copy-given');
      for (const place of [
        '/projects',
        '/projects/good',
        '/projects/good/task/t2',
        '/schedule',
        '/morning',
        '/threads',
        '/inbox',
        '/settings/costs',
        '/',
      ]) {
        await goWithin(page, place);
        await page.waitForTimeout(500);
        await visitor.picture(`hostile-copy${place.replaceAll('/', '-')}`);
        expect(await page.locator('.broken-part').count(), place).toBe(0);
      }
      expect(await page.evaluate(() => Reflect.get(window, 'wasRun') as unknown)).toBeUndefined();
      expect(existsSync(marker)).toBe(false);
      expect(dialogs).toEqual([]);
      expect(visitor.complaints).toEqual([]);
    } finally {
      await profile.remove();
      await relay.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
