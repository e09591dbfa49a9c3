import { expect, test } from 'vitest';
import { guessDeviceName } from '../../../../../src/shared/domain/device-name.ts';
import { countWords, drillPositions, sameWord } from '../../../../../src/page/ui/devices/dialog-parts.tsx';
import type { DeviceView } from '../../../../../src/shared/protocol/sync/page.ts';
import { acknowledgedText, reachText } from '../../../../../src/page/ui/text/devices.ts';
import { createRandom } from '../../../../support/random.ts';
import { device } from '../../support/devices.ts';
import { NOW } from '../../support/household.ts';

test('the drill asks for three different places, in order, any of them', () => {
  const random = createRandom(3);
  const drawn = Array.from({ length: 300 }, () => drillPositions(24, random));
  for (const places of drawn) {
    expect(new Set(places).size).toBe(3);
    expect([...places].sort((a, b) => a - b)).toEqual(places);
  }
  expect(new Set(drawn.flat())).toEqual(new Set(Array.from({ length: 24 }, (_, i) => i + 1)));
});

test('words are counted and compared as people type them', () => {
  expect(countWords('1. abandon, 2) ability\n 3 able;')).toBe(3);
  expect(countWords('  ')).toBe(0);
  expect(sameWord(' Able ', 'able')).toBe(true);
  expect(sameWord('abel', 'able')).toBe(false);
});

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
    'Edge on Windows',
  ],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Mac'],
  ['something else', 'Browser'],
])("suggests a device's name from its browser", (userAgent, name) => {
  expect(guessDeviceName(userAgent)).toBe(name);
});

const MINUTE = 60_000;
test.each<[Partial<DeviceView>, string]>([
  [{ lastSeen: NOW - MINUTE }, 'last seen 1 min ago · let in Wednesday by Laptop'],
  [{ lastSeen: NOW - 12 * MINUTE }, 'last seen 12 min ago · let in Wednesday by Laptop'],
  [{ lastSeen: NOW - 26 * 60 * MINUTE }, 'last seen yesterday 06:55 · let in Wednesday by Laptop'],
  [{ lastSeen: null }, 'not seen yet · let in Wednesday by Laptop'],
  [{ online: true }, 'there now · let in Wednesday by Laptop'],
  [{ online: false, direct: true }, 'there now · direct connection · let in Wednesday by Laptop'],
  [{ self: true, online: true, came: { kind: 'first' } }, 'added Wednesday'],
  [
    { online: true, came: { kind: 'unsaid' } },
    'there now · added Wednesday; none of the others says that it let this one in',
  ],
])('shows %j as "%s"', (more, text) => {
  expect(reachText(device('Phone', more), NOW)).toBe(text);
});

test.each([
  ['live', 0, 'Everything that is here has been handed to the relay.'],
  ['live', 1, '1 entry waits for the relay.'],
  ['connecting', 2, '2 entries wait for the relay.'],
  ['lost', 1, '1 entry waits for the relay.'],
  ['lost', 0, 'Everything that is here has been handed to the relay.'],
  [
    'locked-out',
    3,
    'This browser is not signed in. Press Enter in the terminal where Roost runs, and open the link that it prints.',
  ],
] as const)('shows a connection that is %s and %i to send', (link, toSend, text) => {
  expect(acknowledgedText({ link, toSend })).toBe(text);
});
