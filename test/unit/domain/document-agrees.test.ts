import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { escapeText } from '../../../src/domain/escape.ts';
import { LEAD_POSITION, seatColor } from '../../../src/domain/seat.ts';
import { AGENT_TOOLS, LEAD_TOOLS } from '../../../server/session/tools.ts';
import { parseTeamCall, SUMMON_TAG, WAKE_TAG, writeSummon, writeWake } from '../../../src/domain/wake-payload.ts';

const document = readFileSync(new URL('../../../CLAUDE.md', import.meta.url), 'utf8');

/** The unnamed fenced blocks under "Message formats", in order. */
const formats = [...(document.split('## Message formats')[1]?.split('\n## ')[0] ?? '').matchAll(/^```\n([\s\S]*?)\n```$/gm)].map((match) => match[1] ?? '');

describe('CLAUDE.md and the code agree', () => {
  it('on what [WAKE AGENTS] looks like', () => {
    const agent = { id: '…', name: 'Lyra', ...seatColor(0), position: 0, soul: '…', transcript: '…' } as const;
    expect(formats[0]).toBe(writeWake([agent]));
    expect(parseTeamCall(formats[0] ?? '')).toEqual({ ok: true, call: { kind: 'wake', agents: [agent] } });
  });

  it('on what [SUMMON AGENTS] looks like', () => {
    const seat = { position: 0, ...seatColor(0) } as const;
    expect(formats[1]).toBe(writeSummon([seat]));
    expect(parseTeamCall(formats[1] ?? '')).toEqual({ ok: true, call: { kind: 'summon', seats: [seat] } });
  });

  it('that soul and transcript are left out where there are none', () => {
    expect(document).toContain('`soul` and `transcript` are left out where there are none.');
    const text = writeWake([{ id: 'a', name: 'Lyra', ...seatColor(0), position: 0, soul: null, transcript: null }]);
    expect(text).not.toMatch(/soul|transcript/);
  });

  it('on how text is escaped', () => {
    const entities = /Text is escaped: `([^`]*)`/.exec(document)?.[1];
    expect(entities).toBe([...'&<>"\''].map(escapeText).join(' '));
    expect(document).toContain('`&#x…;` with a UTF-16 code unit');
    expect(escapeText('\u0000\ud83d')).toBe('&#x0;&#xd83d;');
  });

  it('on the tools: their names, what they take and whose they are', () => {
    const rows = [...document.matchAll(/^\| `(\w+)\((\w+)\)` \| (lead|agents|all) \|/gm)].map(([, name, input, whose]) => ({ name, input, whose }));
    const owner = (name: string) => {
      const [lead, agents] = [LEAD_TOOLS, AGENT_TOOLS].map((tools) => tools.some((tool) => tool.name === name));
      return lead && agents ? 'all' : lead ? 'lead' : 'agents';
    };
    const offered = [...new Map([...LEAD_TOOLS, ...AGENT_TOOLS].map((tool) => [tool.name, tool])).values()];
    const told = offered.map((tool) => ({ name: tool.name, input: Object.keys(tool.properties).join(', '), whose: owner(tool.name) }));
    const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1);
    expect(rows.sort(byName)).toEqual(told.sort(byName));
  });

  it('on the tags and on the seat of the lead', () => {
    expect(document).toContain(`**On \`${WAKE_TAG}\`**`);
    expect(document).toContain(`**On \`${SUMMON_TAG}\`**`);
    expect(document).toContain(`Positions run from 0 to 8, row by row; ${LEAD_POSITION} is yours.`);
  });
});
