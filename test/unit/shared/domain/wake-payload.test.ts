import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seatColor, type SeatPosition } from '../../../../src/shared/domain/seat.ts';
import {
  isTeamCall,
  parseTeamCall,
  writeSummon,
  writeWake,
  type AgentPayload,
  type ParsedCall,
} from '../../../../src/shared/domain/wake-payload.ts';
import { anyText, longText, somePayloads, someSeatPayloads } from './arbitraries.ts';

const agent = (position: SeatPosition, more: Partial<AgentPayload> = {}): AgentPayload => ({
  id: `agent-${position}`,
  name: 'Lyra',
  ...seatColor(position),
  position,
  soul: null,
  transcript: null,
  ...more,
});

const write = (parsed: ParsedCall & { ok: true }) =>
  parsed.call.kind === 'wake' ? writeWake(parsed.call.agents) : writeSummon(parsed.call.seats);

/** A message, and something that could happen to it on the way. */
const damaged = fc
  .record({
    text: fc.oneof(somePayloads.map(writeWake), someSeatPayloads.map(writeSummon)),
    at: fc.nat(),
    length: fc.integer({ min: 0, max: 30 }),
    to: fc.nat(),
    insert: fc.oneof(
      anyText,
      fc.constantFrom(' ', '\n', '\r\n', '<', '>', '"', '&', '/', '<soul></soul>', '  </agent>\n', '0', 'x'),
    ),
    damage: fc.constantFrom('cut', 'insert', 'delete', 'replace', 'repeat', 'swap case'),
  })
  .map(({ text, at, length, to, insert, damage }) => {
    const place = at % (text.length + 1);
    const [before, piece, after] = [
      text.slice(0, place),
      text.slice(place, place + length),
      text.slice(place + length),
    ];
    switch (damage) {
      case 'cut':
        return before;
      case 'insert':
        return before + insert + piece + after;
      case 'delete':
        return before + after;
      case 'replace':
        return before + insert + after;
      case 'swap case':
        return before + (piece === piece.toUpperCase() ? piece.toLowerCase() : piece.toUpperCase()) + after;
      default: {
        const elsewhere = to % (text.length + 1);
        return text.slice(0, elsewhere) + piece + text.slice(elsewhere);
      }
    }
  });

describe('[WAKE AGENTS]', () => {
  it('carries every name, soul and transcript exactly as written', () => {
    fc.assert(
      fc.property(somePayloads, (agents) => {
        expect(parseTeamCall(writeWake(agents))).toEqual({ ok: true, call: { kind: 'wake', agents } });
      }),
      { numRuns: 500 },
    );
  });

  it('carries eight souls and transcripts of 300 KB', () => {
    const text = longText(300_000);
    const agents = ([0, 1, 2, 3, 5, 6, 7, 8] as const).map((position) =>
      agent(position, { soul: text, transcript: `${text}${position}` }),
    );
    const parsed = parseTeamCall(writeWake(agents));
    expect(
      parsed.ok &&
        parsed.call.kind === 'wake' &&
        parsed.call.agents.every((read, i) => read.soul === text && read.transcript === agents[i]?.transcript),
    ).toBe(true);
  });

  it('tells an empty soul from none', () => {
    const agents = [agent(0, { soul: '' }), agent(1, { transcript: '' }), agent(2)];
    expect(parseTeamCall(writeWake(agents))).toEqual({ ok: true, call: { kind: 'wake', agents } });
  });

  it('survives UTF-8 and JSON, which lose half surrogate pairs', () => {
    fc.assert(
      fc.property(somePayloads, (agents) => {
        const bytes = new TextEncoder().encode(JSON.stringify({ text: writeWake(agents) }));
        const arrived: unknown = JSON.parse(new TextDecoder().decode(bytes));
        expect(arrived).toEqual({ text: writeWake(agents) });
      }),
    );
  });
});

describe('[SUMMON AGENTS]', () => {
  it('carries every seat exactly as written', () => {
    fc.assert(
      fc.property(someSeatPayloads, (seats) => {
        expect(parseTeamCall(writeSummon(seats))).toEqual({ ok: true, call: { kind: 'summon', seats } });
      }),
      { numRuns: 500 },
    );
  });
});

describe('the reader', () => {
  it('refuses what happened to a message on the way, or reads one definite meaning', () => {
    fc.assert(
      fc.property(damaged, (text) => {
        const parsed = parseTeamCall(text);
        if (parsed.ok) expect(parseTeamCall(write(parsed))).toEqual(parsed);
        else expect(parsed.reason).toMatch(/ at character \d+$/);
      }),
      { numRuns: 5000 },
    );
  });

  it('ignores layout: white space between tags, the order of attributes, quotation marks in text', () => {
    const space = fc.stringMatching(/^[ \t\r\n]{0,4}$/);
    fc.assert(
      fc.property(somePayloads, fc.array(space, { minLength: 1 }), fc.boolean(), (agents, spaces, turned) => {
        let n = 0;
        const relaid = writeWake(agents)
          .replace(/ name=("[^"]*")(.*) id=("[^"]*")>/g, turned ? ' id=$3$2 name=$1 >' : '$&')
          .replace(/(?<!<soul|<transcript)>\n *</g, () => `>${spaces[n++ % spaces.length] ?? ''}<`)
          .replaceAll('&apos;', "'");
        expect(parseTeamCall(`\n${relaid}\n`)).toEqual({ ok: true, call: { kind: 'wake', agents } });
      }),
      { numRuns: 500 },
    );
  });

  it('refuses every beginning of a message that is not the whole', () => {
    const text = writeWake([agent(0, { soul: 'I <am>', transcript: 'Hello' }), agent(8)]);
    for (let length = 0; length < text.length; length++)
      expect(parseTeamCall(text.slice(0, length)).ok, `${length} characters`).toBe(false);
  });

  it('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const tag of ['', '[WAKE AGENTS]\n<agent-payloads>\n', '[SUMMON AGENTS]\n<seats>\n'])
          expect(parseTeamCall(tag + text).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('reports a mistake of the program itself as such, not as a malformed message', () => {
    // @ts-expect-error nothing that is checked by type can get here
    expect(() => parseTeamCall(undefined)).toThrow(TypeError);
  });

  const good = writeWake([agent(0, { soul: 'one' }), agent(1)]);
  const refused: [string, string, RegExp][] = [
    ['the same seat twice', writeWake([agent(0), agent(0, { id: 'other' })]), /position 0 twice/],
    ['the same agent twice', writeWake([agent(0), agent(1, { id: 'agent-0' })]), /agent id "agent-0" stands twice/],
    ['an agent without an id', writeWake([agent(0, { id: '' })]), /agent id "" is none that an agent can have/],
    ['no agents', writeWake([]), /no agent/],
    ['no seats', writeSummon([]), /no seat/],
    ["the lead's seat", good.replace('position="0"', 'position="4"'), /position "4" is not an agent's seat/],
    ['a seat off the grid', good.replace('position="0"', 'position="9"'), /position "9"/],
    ['a seat that is not a digit', good.replace('position="0"', 'position="00"'), /position "00"/],
    ['the same seat twice in a summons', writeSummon([agent(2), agent(2)]), /position 2 twice/],
    ['an unknown reference', good.replace('one', '&nbsp;'), /begins no known reference in soul at character \d+/],
    ['a bare "&"', good.replace('one', 'you & me'), /begins no known reference/],
    ['a bare "<"', good.replace('one', '<'), /expected "<\/soul>"/],
    ['a soul without an end', good.slice(0, good.indexOf('</soul>')), /no "<\/soul>"/],
    ['two souls', good.replace('</soul>', '</soul><soul>two</soul>'), /expected "<\/agent>"/],
    [
      'a soul after the transcript',
      good.replace('<soul>one</soul>', '<transcript>t</transcript><soul>one</soul>'),
      /expected "<\/agent>"/,
    ],
    ['an element of another kind', good.replace('<soul>one</soul>', '<mood>fine</mood>'), /expected "<\/agent>"/],
    ['an attribute that is missing', good.replace(/ color="[^"]*"/, ''), /attribute "color" is missing/],
    ['an attribute twice', good.replace(' color=', ' name="Other" color='), /attribute "name" twice/],
    ['an attribute of another kind', good.replace(' color=', ' mood="fine" color='), /unknown attribute "mood"/],
    ['attributes without space between', good.replace('" color=', '"color='), /attribute "color" is missing|expected/],
    ['an attribute without an end', '[WAKE AGENTS]\n<agent-payloads>\n  <agent name="Lyra', /expected an attribute/],
    ['text after the end', `${good}\nand more`, /text after the end/],
    [
      'words between the tag and the payloads',
      good.replace('AGENTS]\n', 'AGENTS] now\n'),
      /expected "<agent-payloads>"/,
    ],
    ['no tag at all', 'good morning', /expected "\[SUMMON AGENTS\]"/],
  ];
  it.each(refused)('refuses %s, and says where', (_what, text, reason) => {
    const parsed = parseTeamCall(text);
    expect(parsed.ok ? 'accepted' : parsed.reason).toMatch(reason);
  });
});

describe('a message to the lead', () => {
  it.each(['[WAKE AGENTS]', '[SUMMON AGENTS]\n…', '  \n[WAKE AGENTS] please'])(
    'claims to be a call to the team: %j',
    (text) => {
      expect(isTeamCall(text)).toBe(true);
    },
  );
  it.each(['', 'Good morning', 'What does [WAKE AGENTS] do?', '[wake agents]'])(
    'reads %j as an ordinary message to the lead',
    (text) => {
      expect(isTeamCall(text)).toBe(false);
    },
  );
});
