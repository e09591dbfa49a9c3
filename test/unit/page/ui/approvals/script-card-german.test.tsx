/** The card of a script in German. */
import { readFileSync } from 'node:fs';
import { screen, waitFor } from '@testing-library/react';
import { afterAll, expect, test, vi } from 'vitest';
import { NOW, team } from '../../support/household.ts';
import { json } from '../../support/reach.ts';

// The files that follow in this process read their modules anew, in English.
afterAll(() => {
  localStorage.clear();
  vi.resetModules();
});

test('the card of a script speaks the language of the page', async () => {
  const texts: unknown = JSON.parse(readFileSync('src/page/language/de.json', 'utf8'));
  localStorage.setItem('roost-language', 'de');
  localStorage.setItem(
    'roost-language-texts',
    JSON.stringify({ language: 'de', url: '', locale: 'de-DE', direction: 'ltr', texts }),
  );
  // Its texts are read when the page's modules are.
  vi.resetModules();
  const { openPage } = await import('../../support/render.tsx');
  const file = (text: string) => ({
    ...{ path: 'site.sh', leadsTo: null, kind: 'file', bytes: 9, entries: 0, mark: text, inTurn: false, text },
  });
  const call = {
    ...{ callId: 'c1', agentId: 'agent-1', tool: 'wake_script', state: 'asked', where: 'run', askedAt: NOW },
    ...{ answeredAt: null, endedAt: null, allowedBy: null, words: null, outcome: null, isError: false, bytes: null },
    later: false,
    input: JSON.stringify({ name: 'Seite', script_path: 'site.sh', every: '10 minutes', hosts: ['example.org'] }),
    content: { pin: 'p', files: [file('echo gut')], rest: 0, isWhole: true, before: null },
  };
  const changed = {
    ...{ ...call, callId: 'c2', tool: 'accept_script', where: 'relay' },
    input: JSON.stringify({ schedule: 's1', name: 'Seite', script_path: 'site.sh' }),
    content: { ...call.content, before: [file('echo alt')] },
  };
  await openPage({
    docs: team(1),
    path: '/inbox',
    prepare({ reach }) {
      reach.on('GET /api/approvals', () =>
        json({ waiting: [call, changed], answered: [], sandbox: { available: true, why: null }, ownHosts: true }),
      );
    },
  });
  await waitFor(() => expect(screen.getAllByRole('article')).toHaveLength(2));
  const [first, second] = screen.getAllByRole('article');
  await waitFor(() => expect(first?.textContent).toContain('Als Nächstes'));
  for (const words of ['alle 10 Minuten', 'example.org', 'Nur aufzeichnen'])
    expect(first?.textContent).toContain(words);
  expect(second?.textContent).toContain('Bis du Ja sagst, läuft der Text, den du angenommen hast.');
  localStorage.clear();
});
