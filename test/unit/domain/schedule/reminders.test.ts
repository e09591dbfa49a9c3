import { describe, expect, it } from 'vitest';
import { reminderIn } from '../../../../server/agents/minds/rehearsal/reminders.ts';
import { saidMoment } from '../../../../src/shared/domain/schedule/timing.ts';
import { wallTime } from '../../../../src/shared/domain/zone-days.ts';

describe('a wish to be reminded', () => {
  const at = (time: string, message: string) => ({ message, when: { at: time } });
  const next = (time: string, message: string) => ({
    ...at(`today ${time}`, message),
    otherwise: { at: `tomorrow ${time}` },
  });
  const after = (delay: string, message: string) => ({ message, when: { delay } });

  it.each([
    ['Erinnere mich in 10 Minuten an den Tee.', after('10 minutes', 'Tee')],
    ['Bitte erinnere mich in einer halben Stunde: die Wäsche', after('30 minutes', 'die Wäsche')],
    ['Erinner mich bitte in einer Viertelstunde an das Brot', after('15 minutes', 'Brot')],
    ['Erinnere mich in einer Stunde, dass ich Anna anrufe', after('1 hours', 'dass ich Anna anrufe')],
    ['Erinnere mich in drei Tagen an den blauen Ordner', after('3 days', 'den blauen Ordner')],
    ['Könntest du mich in 2 Stunden daran erinnern, Anna anzurufen?', after('2 hours', 'Anna anzurufen')],
    ['Erinnere mich in 5 Minuten', after('5 minutes', 'Erinnere mich in 5 Minuten')],
    ['Erinnere mich daran, in 10 Minuten den Tee zu holen', after('10 minutes', 'den Tee zu holen')],
    ['Erinnere mich an den Tee in 10 Minuten', after('10 minutes', 'Tee')],
    ['Erinnere mich morgen um 8 an den Müll', at('tomorrow 8:00', 'Müll')],
    ['Erinnere mich morgen um 8:30 Uhr an den Müll, bitte.', at('tomorrow 8:30', 'Müll')],
    ['Erinnere mich morgen um 8 Uhr 15 an den Müll', at('tomorrow 8:15', 'Müll')],
    ['Erinnere mich morgen um neun daran, meine Mutter anzurufen', at('tomorrow 9:00', 'meine Mutter anzurufen')],
    ['Erinnere mich morgen um halb neun an Anna', at('tomorrow 8:30', 'Anna')],
    ['Erinnere mich morgen an Anna', at('tomorrow 9:00', 'Anna')],
    ['Erinnere mich morgen früh an Anna', at('tomorrow 8:00', 'Anna')],
    ['Erinnere mich morgen Abend um 8 an Anna', at('tomorrow 20:00', 'Anna')],
    ['Erinnere mich heute Abend an die Blumen', at('today 19:00', 'Blumen')],
    ['Erinnere mich heute um 17 Uhr an die Blumen', at('today 17:00', 'Blumen')],
    ['Kannst du mich um 18 Uhr an die Wäsche erinnern?', next('18:00', 'Wäsche')],
    [
      'Kannst du mich bitte morgen um acht an die Sitzung am Montag erinnern?',
      at('tomorrow 8:00', 'Sitzung am Montag'),
    ],
    ['Kannst du mich an die Wäsche um 18 Uhr erinnern?', next('18:00', 'Wäsche')],
    ['Kannst du mich daran erinnern, morgen um 8 Anna anzurufen?', at('tomorrow 8:00', 'Anna anzurufen')],
    ['Erinnere mich um 7 Uhr abends an die Tabletten', next('19:00', 'Tabletten')],
    ['Erinnere mich gegen eins an die Suppe', next('1:00', 'Suppe')],
    ['Remind me in 10 minutes to eat', after('10 minutes', 'eat')],
  ])('is heard with its time: %s', (said, wish) => {
    expect(reminderIn(said)).toEqual(wish);
  });

  it.each([
    'Erinnere mich an den Tee',
    'Erinnere mich heute an Anna',
    'Erinnere mich morgen um 25 Uhr an Anna',
    'Erinnere mich jeden zweiten Montag um 8 an Anna',
    'Erinnere mich an Anna jeden zweiten Montag um 8',
    'Erinnere mich an Anna am 24. Dezember um 8',
    'Erinnere mich an die Miete am 3. um 9 Uhr',
    'Erinnere mich an die Miete jeden Monat um 9',
    'Erinnere mich an die Miete nächste Woche um 9',
    'Erinnere mich an den Sport montags und donnerstags um 8',
    'Erinnere mich an den Sport am Wochenende um 8',
    'Erinnere mich alle 400 Stunden an Anna',
    'Remind me to eat',
    'Remind me today to eat',
    'Remind me tomorrow at 25 to eat',
    'Remind me to pay the rent every month at 9',
    'Remind me to pay the rent on the 3rd at 9',
    'Remind me to call Anna on December 24 at 9',
    'Remind me to call Anna on 24 December at 9',
    'Remind me to call Anna next week at 9',
    'Remind me to swim every Monday and Thursday at 8',
    'Remind me to swim every other Friday at 8',
    'Do you remind me of Friday?',
    'Remind me of what I told you on Friday',
    'Can you remind me of what was said today at 9?',
    'Remind me Tuesday to Thursday at 8 to swim',
    'Remind me to swim Tuesday to Thursday at 8',
    'Erinnere mich an den Sport von Dienstag bis Donnerstag um 8',
    'Erinnerst du dich an den Tee?',
    'Ich erinnere mich morgen um 8 an nichts',
    'Kannst du dich um 8 an mich erinnern?',
    'Weck mich um sieben',
    'Das erinnert mich an morgen',
  ])('is none where it says no time that can be set, or is something else: %s', (said) => {
    expect(reminderIn(said)).toBeNull();
  });

  /**
   * Of a sentence, what its first moment shows on the wall of Berlin, asked at a moment of that
   * wall; and by which rule it comes again.
   */
  const ZONE = 'Europe/Berlin';
  const shows = (time: number) => new Date(wallTime(ZONE, time)).toISOString().slice(0, 16);
  function comes(said: string, at: string): string {
    const now = saidMoment(at, ZONE, 0) ?? Number.NaN;
    const wish = reminderIn(said);
    const first = [wish?.when, wish?.otherwise]
      .map((moment) => (moment?.at === undefined ? null : saidMoment(moment.at, ZONE, now)))
      .find((moment) => moment !== null && moment > now);
    const again =
      wish?.again && ('cron' in wish.again ? `, again ${wish.again.cron}` : `, again ${wish.again.every_minutes}`);
    return `${first === undefined || first === null ? JSON.stringify(wish?.when) : shows(first)}${again ?? ''}: ${wish?.message ?? ''}`;
  }
  // A Monday.
  const MONDAY = '2026-11-23T08:05';
  it.each([
    ['Erinnere mich übermorgen um 8 an Anna', MONDAY, '2026-11-25T08:00: Anna'],
    ['Erinnere mich an Anna übermorgen um 8', MONDAY, '2026-11-25T08:00: Anna'],
    ['Erinnere mich übermorgen an Anna', MONDAY, '2026-11-25T09:00: Anna'],
    ['Erinnere mich an den Tee übermorgen Abend um halb acht', MONDAY, '2026-11-25T19:30: Tee'],
    ['Erinnere mich am Freitag um neun an die Miete', MONDAY, '2026-11-27T09:00: Miete'],
    ['Erinnere mich um 9 am Freitag an die Miete', MONDAY, '2026-11-27T09:00: Miete'],
    ['Erinnere mich am Freitagabend an die Miete', MONDAY, '2026-11-27T19:00: Miete'],
    ['Kannst du mich Freitag früh um 7 an die Miete erinnern?', MONDAY, '2026-11-27T07:00: Miete'],
    ['Erinnere mich an Anna am Sonnabend', MONDAY, '2026-11-28T09:00: Anna'],
    ['Erinnere mich am Montag um 9 an Anna', MONDAY, '2026-11-23T09:00: Anna'],
    ['Erinnere mich am Montag um 8 an Anna', MONDAY, '2026-11-30T08:00: Anna'],
    ['Erinnere mich nächsten Montag um 9 an Anna', MONDAY, '2026-11-30T09:00: Anna'],
    ['Erinnere mich am kommenden Montag an Anna', MONDAY, '2026-11-23T09:00: Anna'],
    ['Erinnere mich in 2 Wochen an Anna', MONDAY, '{"delay":"14 days"}: Anna'],
    ['Erinnere mich jeden Tag um 8 an die Tabletten', MONDAY, '2026-11-24T08:00, again 0 8 * * *: Tabletten'],
    ['Erinnere mich an die Tabletten jeden Morgen um 9', MONDAY, '2026-11-23T09:00, again 0 9 * * *: Tabletten'],
    ['Erinnere mich täglich um halb zehn an die Post', MONDAY, '2026-11-23T09:30, again 30 9 * * *: Post'],
    ['Jeden Abend um 8 erinnere mich bitte an die Blumen', MONDAY, '2026-11-23T20:00, again 0 20 * * *: Blumen'],
    [
      'Erinnere mich jeden Freitag daran, die Tonne zu leeren',
      MONDAY,
      '2026-11-27T09:00, again 0 9 * * 5: die Tonne zu leeren',
    ],
    ['Kannst du mich jeden Freitag um 7 an die Tonne erinnern?', MONDAY, '2026-11-27T07:00, again 0 7 * * 5: Tonne'],
    ['Erinnere mich freitags um 7 an die Tonne', MONDAY, '2026-11-27T07:00, again 0 7 * * 5: Tonne'],
    ['Erinnere mich werktags um 8 an die Post', MONDAY, '2026-11-24T08:00, again 0 8 * * 1-5: Post'],
    [
      'Erinnere mich an die Post an Werktagen um 8 Uhr',
      '2026-11-27T08:05',
      '2026-11-30T08:00, again 0 8 * * 1-5: Post',
    ],
    ['Erinnere mich alle zwei Stunden daran, zu trinken', MONDAY, '{"delay":"120 minutes"}, again 120: zu trinken'],
    ['Erinnere mich jede halbe Stunde an Wasser', MONDAY, '{"delay":"30 minutes"}, again 30: Wasser'],
    ['Remind me the day after tomorrow at 8 to call Anna', MONDAY, '2026-11-25T08:00: call Anna'],
    ['Remind me to call Anna day after tomorrow', MONDAY, '2026-11-25T09:00: call Anna'],
    ['Remind me on Friday at 9 to call Anna', MONDAY, '2026-11-27T09:00: call Anna'],
    ['Remind me Friday at nine to call Anna', MONDAY, '2026-11-27T09:00: call Anna'],
    ['Can you remind me to call Anna at 9 on Friday?', MONDAY, '2026-11-27T09:00: call Anna'],
    ['Remind me to call Anna on Friday evening', MONDAY, '2026-11-27T19:00: call Anna'],
    ['Remind me on Monday at 9 to call Anna', MONDAY, '2026-11-23T09:00: call Anna'],
    ['Remind me on Monday at 8 to call Anna', MONDAY, '2026-11-30T08:00: call Anna'],
    ['Remind me next Monday to call Anna', MONDAY, '2026-11-30T09:00: call Anna'],
    ['Remind me at half past three pm: the cake', MONDAY, '2026-11-23T15:30: the cake'],
    ['Remind me at 7 to stretch', MONDAY, '2026-11-24T07:00: stretch'],
    ['Remind me at 12 am to sleep', MONDAY, '2026-11-24T00:00: sleep'],
    ['Remind me to look at the moon tonight', MONDAY, '2026-11-23T19:00: look at the moon'],
    ['Remind me in half an hour to eat', MONDAY, '{"delay":"30 minutes"}: eat'],
    ['Remind me every day at 8 to take the pills', MONDAY, '2026-11-24T08:00, again 0 8 * * *: take the pills'],
    ['Every day at 9, remind me to take the pills', MONDAY, '2026-11-23T09:00, again 0 9 * * *: take the pills'],
    ['Remind me to water the plants every Friday', MONDAY, '2026-11-27T09:00, again 0 9 * * 5: water the plants'],
    ['Remind me on Fridays at 4 pm to go home', MONDAY, '2026-11-27T16:00, again 0 16 * * 5: go home'],
    ['Remind me every weekday at 8:30 to stand up', MONDAY, '2026-11-23T08:30, again 30 8 * * 1-5: stand up'],
    ['Remind me to stand up every weekday at 8', '2026-11-28T12:00', '2026-11-30T08:00, again 0 8 * * 1-5: stand up'],
    ['Erinnere mich von Montag bis Freitag um 9 an die Post', MONDAY, '2026-11-23T09:00, again 0 9 * * 1-5: Post'],
    ['Erinnere mich am Abend an die Blumen', MONDAY, '2026-11-23T19:00: Blumen'],
    ['Remind me in the evening at 8 to read', MONDAY, '2026-11-23T20:00: read'],
    ['Remind me to stand up Monday to Friday at 8', MONDAY, '2026-11-24T08:00, again 0 8 * * 1-5: stand up'],
    ['Remind me every 2 hours to drink', MONDAY, '{"delay":"120 minutes"}, again 120: drink'],
    // The clocks go forward in the night to Sunday, and back in the night to the 25th of October.
    ['Remind me on Sunday at 9 to call Anna', '2027-03-27T20:00', '2027-03-28T09:00: call Anna'],
    ['Erinnere mich am Sonntag um 2:30 an den Mond', '2027-03-27T20:00', '2027-03-28T03:00: Mond'],
    ['Erinnere mich übermorgen um 9 an Anna', '2026-10-24T20:00', '2026-10-26T09:00: Anna'],
    ['Remind me next Saturday at 9 to call Anna', '2026-10-24T08:00', '2026-10-31T09:00: call Anna'],
  ])('comes at the moment that is meant, on whatever day it is asked: %s', (said, at, expected) => {
    expect(comes(said, at)).toBe(expected);
  });
});

describe('a moment as it is said', () => {
  const NOW = Date.UTC(2026, 10, 23, 7, 5);
  const at = (text: string, zone = 'Europe/Berlin', now = NOW) => {
    const moment = saidMoment(text, zone, now);
    return moment === null ? null : new Date(moment).toISOString().slice(0, 16);
  };
  it('is one of the person’s own clock, on the day that it is for them', () => {
    expect(at('today 09:00')).toBe('2026-11-23T08:00');
    expect(at('tomorrow at 9:00')).toBe('2026-11-24T08:00');
    expect(at('Friday 09:00')).toBe('2026-11-27T08:00');
    expect(at('the day after tomorrow, at 09:00')).toBe('2026-11-25T08:00');
    // It is Sunday there still, and in the other place Tuesday already.
    expect(at('monday 09:00', 'America/Los_Angeles')).toBe('2026-11-23T17:00');
    expect(at('today 09:00', 'America/Los_Angeles', Date.UTC(2026, 10, 23, 5))).toBe('2026-11-22T17:00');
    expect(at('tuesday 09:00', 'Pacific/Kiritimati', Date.UTC(2026, 10, 23, 12))).toBe('2026-11-23T19:00');
    expect(at('2026-12-24T09:00')).toBe('2026-12-24T08:00');
    expect(at('2026-12-24T09:00Z')).toBe('2026-12-24T09:00');
  });
  it('may be over today, and is never over on a weekday', () => {
    expect(at('today 07:00')).toBe('2026-11-23T06:00');
    expect(at('monday 08:05')).toBe('2026-11-30T07:05');
    expect(at('monday 08:06')).toBe('2026-11-23T07:06');
    expect(at('next monday 08:06')).toBe('2026-11-30T07:06');
    expect(at('weekday 08:00')).toBe('2026-11-24T07:00');
    expect(at('weekday 08:00', 'Europe/Berlin', Date.UTC(2026, 10, 27, 12))).toBe('2026-11-30T07:00');
  });
  it.each(['friday', 'friday 24:00', 'today 9', 'yesterday 09:00', 'frida 09:00', '9:00', '2026-02-30T09:00'])(
    'is none: %s',
    (text) => expect(at(text)).toBeNull(),
  );
});
