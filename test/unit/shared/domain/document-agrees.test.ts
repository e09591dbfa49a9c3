import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  escapeText,
  parseTeamCall,
  positionsCalled,
  SUMMON_TAG,
  WAKE_TAG,
  writeForLead,
  writeSummon,
} from '../../../../src/shared/domain/wake-payload.ts';
import { LEAD_POSITION, seatColor } from '../../../../src/shared/domain/seat.ts';
import { AGENT_TOOLS, LEAD_TOOLS } from '../../../../server/agents/session/tools.ts';

const document = readFileSync(new URL('../../../../CLAUDE.md', import.meta.url), 'utf8');

/** The unnamed fenced blocks under "Message formats", in order. */
const formats = [
  ...(document.split('## Message formats')[1]?.split('\n## ')[0] ?? '').matchAll(/^```\n([\s\S]*?)\n```$/gm),
].map((match) => match[1] ?? '');

describe('CLAUDE.md and the code agree', () => {
  it('formats [WAKE AGENTS] as the document does', () => {
    const agent = {
      id: 'a',
      name: 'Lyra',
      ...seatColor(0),
      position: 0,
      soul: 'I chose this name in the morning.',
      transcript: 'Ada: hello',
    } as const;
    expect(formats[0]).toBe(writeForLead({ kind: 'wake', agents: [agent] }, 'I chose …'.length));
    expect(positionsCalled(formats[0] ?? '')).toEqual([0]);
  });

  it('formats [SUMMON AGENTS] as the document does', () => {
    const seat = { position: 0, ...seatColor(0) } as const;
    expect(formats[1]).toBe(writeSummon([seat]));
    expect(formats[1]).toBe(writeForLead({ kind: 'summon', seats: [seat] }, 300));
    expect(positionsCalled(formats[1] ?? '')).toEqual([0]);
    expect(parseTeamCall(formats[1] ?? '')).toEqual({ ok: true, call: { kind: 'summon', seats: [seat] } });
  });

  it('leaves the place of an unknown soul empty, as the document does', () => {
    expect(document).toContain("Where nothing is known of a soul, the agent's element is empty.");
    const text = writeForLead(
      {
        kind: 'wake',
        agents: [{ id: 'a', name: 'Lyra', ...seatColor(0), position: 0, soul: null, transcript: 'Ada: hello' }],
      },
      300,
    );
    expect(text).toContain('position="0"/>');
  });

  it('escapes text as the document does', () => {
    const entities = /Text is escaped: `([^`]*)`/.exec(document)?.[1];
    expect(entities).toBe([...'&<>"\''].map(escapeText).join(' '));
    expect(document).toContain('`&#x…;` with a UTF-16 code unit');
    expect(escapeText('\u0000\ud83d')).toBe('&#x0;&#xd83d;');
  });

  it("offers the document's tools under the same names, with the same inputs and owners", () => {
    const rows = [...document.matchAll(/^\| `(\w+)\((\w+)\)` \| (lead|agents|all) \|/gm)].map(
      ([, name, input, whose]) => ({ name, input, whose }),
    );
    const owner = (name: string) => {
      const [lead, agents] = [LEAD_TOOLS, AGENT_TOOLS].map((tools) => tools.some((tool) => tool.name === name));
      return lead && agents ? 'all' : lead ? 'lead' : 'agents';
    };
    const offered = [...new Map([...LEAD_TOOLS, ...AGENT_TOOLS].map((tool) => [tool.name, tool])).values()];
    const told = offered.map((tool) => ({
      name: tool.name,
      input: Object.keys(tool.properties).join(', '),
      whose: owner(tool.name),
    }));
    const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }) =>
      (a.name ?? '') < (b.name ?? '') ? -1 : 1;
    // Of the team's tools the one that only stands in a row by itself.
    expect(rows.sort(byName)).toEqual(
      [...told, { name: 'message_human', input: 'message', whose: 'all' }].sort(byName),
    );
  });

  it("uses the document's tags and the lead's seat", () => {
    expect(document).toContain(`**On \`${WAKE_TAG}\`**`);
    expect(document).toContain(`**On \`${SUMMON_TAG}\`**`);
    expect(document).toContain(`Positions run from 0 to 8, row by row; ${LEAD_POSITION} is yours.`);
  });
});
