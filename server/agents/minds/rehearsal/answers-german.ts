/**
 * Answers of the relay's tools, which are English, as an agent tells them to the person in German.
 * Each answer is known by how it begins. An answer that is not in this table stays English, and the
 * agent says whose words they are.
 */
import { quotedLast, seats } from './german-text.ts';

type Row = readonly [pattern: RegExp, said: (found: readonly string[]) => string];

function firstSaid(rows: readonly Row[], text: string): string | null {
  for (const [pattern, said] of rows) {
    const found = pattern.exec(text);
    if (found) return said(found);
  }
  return null;
}

const DAYS: Readonly<Record<string, string>> = {
  ...{ Monday: 'Montag', Tuesday: 'Dienstag', Wednesday: 'Mittwoch', Thursday: 'Donnerstag', Friday: 'Freitag' },
  ...{ Saturday: 'Samstag', Sunday: 'Sonntag' },
};
const MONTHS: Readonly<Record<string, string>> = {
  ...{ January: 'Januar', February: 'Februar', March: 'März', May: 'Mai', June: 'Juni', July: 'Juli' },
  ...{ October: 'Oktober', December: 'Dezember' },
};

const times = (count: string) => (count === 'once' ? 'einmal' : count.replace(' times', ' Mal'));
const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  s: ['Sekunde', 'Sekunden'],
  min: ['Minute', 'Minuten'],
  h: ['Stunde', 'Stunden'],
};
const span = (count: string, unit: string) => `${count} ${UNITS[unit]?.[count === '1' ? 0 : 1] ?? unit}`;

/** Behind why a wake was stopped: when the next can pass. */
const NEXT: readonly Row[] = [
  [
    /The next can pass in (\d+) (s|min|h), at (\d\d:\d\d)\.$/,
    ([, count = '', unit = '', at = '']) => ` Das nächste Mal geht es in ${span(count, unit)}, um ${at} Uhr.`,
  ],
  [/Waiting does not help\.$/, () => ' Warten hilft nicht.'],
];
const nextOf = (why: string) => firstSaid(NEXT, why) ?? '';
const NEVER = (limit: string) => `Die Grenze ist dort auf 0 ${limit} gestellt, und so wird niemand geweckt.`;
/** Why a wake was stopped; what follows in the text is `nextOf`. */
const STOPPED: readonly Row[] = [
  [/^This agent may wake nobody\./, () => 'Ich darf niemanden wecken.'],
  [
    /^This caller has woken others (once|\d+ times) /,
    ([, count = '']) => `In dieser Sitzung habe ich andere schon ${times(count)} geweckt; mehr darf ich nicht.`,
  ],
  [/^Waking this agent is switched off\./, () => 'Das Wecken ist dort ausgeschaltet.'],
  [/^All waking is switched off in this household\./, () => 'In diesem Haushalt sind alle Weckrufe angehalten.'],
  [
    /^It was woken less than (\d+) s ago\./,
    ([, count = '']) => `Der letzte Weckruf dort ist keine ${span(count, 's')} her; so lange ist Pause.`,
  ],
  [/^Its limit is 0 wakes a day/, () => NEVER('Weckrufe am Tag')],
  [/^Its limit is 0 minutes a day/, () => NEVER('Minuten am Tag')],
  [/^Its limit is 0 sessions at a time/, () => NEVER('Sitzungen auf einmal')],
  [
    /^It was woken (?:once|(\d+) times) today, which is its limit\./,
    ([, count]) =>
      `Heute gab es dort schon ${count === undefined ? 'einen Weckruf' : `${count} Weckrufe`}; mehr geht am Tag nicht.`,
  ],
  [
    /^Whoever asks has woken it (once|\d+ times) today/,
    ([, count = '']) => `Ich habe dort heute schon ${times(count)} geweckt; mehr darf einer nicht.`,
  ],
  [
    /^It is not woken at this hour(?: \((.+?)\))?\./,
    ([, label]) => `Um diese Zeit wird dort nicht geweckt${label === undefined ? '' : ` (${label})`}.`,
  ],
  [
    /^Its sessions have run (\d+) minutes today/,
    ([, count = '']) => `Die Sitzungen dort liefen heute ${span(count, 'min')}; mehr geht am Tag nicht.`,
  ],
  [
    /^It has (?:a session|(\d+) sessions) under way already/,
    ([, count]) =>
      count === undefined
        ? 'Dort läuft schon eine Sitzung; mehr geht auf einmal nicht. Ist sie vorbei, geht es.'
        : `Dort laufen schon ${count} Sitzungen; mehr geht auf einmal nicht. Ist eine vorbei, geht es.`,
  ],
  [/^It is not in a running session\./, () => 'Dort läuft keine Sitzung.'],
  [/^A client plays it from elsewhere/, () => 'Ein anderes Programm spielt diesen Platz und beginnt selbst.'],
  [/^It is in the middle of a turn\./, () => 'Dort ist gerade eine Antwort im Gang; danach geht es weiter.'],
  [/^The household lets nobody but the person wake anyone\./, () => 'In diesem Haushalt weckt niemand außer dir.'],
  [
    /^The household has had (?:a wake|(\d+) wakes) in (\d+) s/,
    ([, count, seconds = '']) =>
      `Im Haushalt gab es ${count === undefined ? 'einen Weckruf' : `${count} Weckrufe`} in ${span(seconds, 's')}; mehr geht nicht.`,
  ],
];
function whyStopped(why: string): string {
  const said = firstSaid(STOPPED, why);
  return said === null ? `Das Relay sagt dazu: ${quotedLast(why)}` : `${said}${nextOf(why)}`;
}
const WAKE_STOPPED: Row = [
  /^(?:Deferred|Suppressed|Not asked): ([^]*?) Your message is in (.+)’s inbox/,
  ([, why = '', name = '']) =>
    `Geweckt habe ich ${name} damit nicht. ${whyStopped(why)} Die Nachricht wartet im Posteingang, und nichts davon geht verloren.`,
];

const SENDER: Readonly<Record<string, string>> = { 'the human': 'dir', 'the relay': 'dem Relay' };
const URGENCY: Readonly<Record<string, string>> = { high: ', wichtig', urgent: ', dringend' };
/** Of an inbox: the lines above what others wrote; theirs stand behind `> `. */
const INBOX_LINES: readonly [Row, Row] = [
  [
    /^From (.+) at \d{4}-[\d-]+T[\d:.]+Z(?:, (high|urgent))?:$/,
    ([, from = '', how = '']) => `Von ${SENDER[from] ?? seats(from)}${URGENCY[how] ?? ''}:`,
  ],
  [
    /^(\d+) more messages? waits? for you; /,
    ([, count = '']) => (count === '1' ? 'Eine weitere Nachricht wartet.' : `${count} weitere Nachrichten warten.`),
  ],
];
const inboxIn = (answer: string): string =>
  answer
    .split('\n')
    .map((line) => firstSaid(INBOX_LINES, line) ?? line)
    .join('\n');

const ROWS: readonly Row[] = [
  // Reminders and routines.
  [
    /^It comes back to you on (\w+) (\d+) (\w+) (\d+), (\d\d:\d\d), as “([^”]*)”\.( The one of before is replaced\.)?$/,
    ([, day = '', date = '', month = '', year = '', time = '', name = '', replaced]) =>
      `Ich melde mich am ${DAYS[day] ?? day}, dem ${date}. ${MONTHS[month] ?? month} ${year}, um ${time} Uhr: ${quotedLast(name)}${replaced === undefined ? '' : ' Die Erinnerung von vorher gilt nicht mehr.'}`,
  ],
  [
    /^Your proposal “([^”]*)” waits for the human\./,
    ([, name = '']) =>
      `Um eine Routine habe ich gebeten: ${quotedLast(name)} Sag im Menü unter **Nacht** ja dazu; vorher geschieht nichts davon.`,
  ],
  [
    /^(\d+) of your proposals wait for the human\./,
    ([, count = '']) =>
      `Von mir warten schon ${count} Bitten um eine Routine auf deine Antwort. Sieh im Menü unter **Nacht** nach, dann bitte ich wieder.`,
  ],
  [/^That time is over already\./, () => 'Die Zeit ist schon vorbei.'],
  [/^That is more than a year ahead\./, () => 'Das ist mehr als ein Jahr hin.'],
  [/^`(?:at|delay)` is (?:no date|none such)/, () => 'Diese Zeit kenne ich nicht.'],
  [/^`cron` is no cron text: /, () => 'Diese Zeit kenne ich nicht.'],
  [
    /^There is room for (\d+) of an agent and (\d+) of the household\./,
    ([, own = '', all = '']) =>
      `Geplant werden können höchstens ${own} Dinge für jeden von uns und ${all} im Haushalt. Nimm zuerst eines weg: im Menü unter **Nacht**.`,
  ],
  [/^(?:This agent has something called|You have a \w+ of that name)/, () => 'Etwas Geplantes heißt schon so.'],
  [
    /^It is due at another relay of this household\./,
    () => 'Das ist an einem anderen Relay dieses Haushalts fällig. Hole es zuerst hierher: im Menü unter **Nacht**.',
  ],
  // Messages and wakes.
  [
    /^Delivered to (.+)’s inbox\./,
    ([, name = '']) =>
      `Die Nachricht liegt im Posteingang von ${name} und wird gelesen, sobald ${name} wieder an der Reihe ist.`,
  ],
  [
    /^Granted: (.+) is awake and reads your message now\./,
    ([, name = '']) => `${name} ist wach und liest die Nachricht jetzt.`,
  ],
  WAKE_STOPPED,
  [
    /^There is nobody called “(.*?)” here\. There are: (.+)\.$/,
    ([, name = '', all = '']) => `Hier heißt niemand „${name}“. Es gibt: ${seats(all)}.`,
  ],
  [/^There is nobody called “(.*?)” here\./, ([, name = '']) => `Hier heißt niemand „${name}“.`],
  [
    /^There are several called “(.*?)”: /,
    ([, name = '']) => `„${name}“ heißen hier mehrere, und ich weiß nicht, wer gemeint ist.`,
  ],
  [
    /^(.+) is retired, and reads no messages any more\.$/,
    ([, name = '']) => `${name} ist nicht mehr im Team und liest keine Nachrichten.`,
  ],
  [/^That is you\. /, () => 'Das bin ich selbst. Eine Nachricht geht an jemand anderen.'],
  [
    /^Not delivered: (.+) has not read what you sent before /,
    ([, name = '']) =>
      `${name} hat noch nicht gelesen, was ich vorher geschickt habe. Mehr liegt erst dort, wenn etwas davon gelesen ist.`,
  ],
  [
    /^Not delivered: (.+)’s inbox is full of unread messages/,
    ([, name = '']) =>
      `Der Posteingang von ${name} ist voll von Ungelesenem. Was du selbst schreibst, kommt trotzdem an.`,
  ],
  [/^Nothing waits for you\.$/, () => 'Für mich liegt nichts da.'],
  // Sleep.
  [/^You are asleep from now on\./, () => 'Von jetzt an schlafe ich. Was mir geschickt wird, wartet.'],
  [/^No session runs: everyone sleeps already\.$/, () => 'Es läuft keine Sitzung: Alle schlafen schon.'],
  [
    /^It is not in the running session, /,
    () => 'Ich bin in keiner laufenden Sitzung, also gibt es nichts schlafen zu legen.',
  ],
  // Names.
  [
    /^A name has at least one letter/,
    () => 'Ein Name hat mindestens einen Buchstaben, eine Ziffer oder ein sichtbares Zeichen.',
  ],
  [/^A name has at most (\d+) characters\./, ([, most = '']) => `Ein Name hat höchstens ${most} Zeichen.`],
  [
    /^“(.*)” would be taken for somebody or something else/,
    ([, name = '']) =>
      `„${name}“ würde für jemand oder etwas anderes gehalten: dich, das Relay, eine Rolle oder einen Platz.`,
  ],
  [
    /^“(.*)” is what the person here is called/,
    ([, name = '']) => `So wie „${name}“ heißt du selbst, oder es sieht genauso aus.`,
  ],
  // Any tool.
  [
    /^This waits for the human/,
    () => 'Das wartet auf dein Ja: Die Frage steht auf der Seite, und vorher geschieht nichts.',
  ],
  [
    /^(\d+) questions of yours wait for the human\./,
    ([, count = '']) => `Von mir warten schon ${count} Fragen auf deine Antwort.`,
  ],
  [
    /^This needs the human’s yes, .* Make it shorter/,
    () => 'Das braucht dein Ja und ist zu lang, um es dir ganz zu zeigen.',
  ],
  [/^The human has switched this tool off for you\.$/, () => 'Das hast du für mich ausgeschaltet.'],
  [/^The human said no\b/, () => 'Du hast nein gesagt.'],
  [/^\w+ could not be read\. [^]*(?:at most|Too big|<=)/, () => 'Das ist zu lang.'],
  [/^\w+ could not be read\b/, () => 'So kann ich das nicht tun.'],
  [/^There is no tool “/, () => 'Das kann ich hier nicht.'],
  [/^This tool is not there any more\.$/, () => 'Das kann ich hier nicht mehr.'],
  [
    /^Something in the relay broke/,
    () => 'Im Relay ging etwas kaputt; getan ist es vielleicht, vielleicht auch nicht. In seinem Protokoll steht mehr.',
  ],
  [
    /^(?:The answer was cut off before this call|This call was cut off before it) /,
    () => 'Die Antwort wurde vorher abgebrochen.',
  ],
  [/^The call was given up before /, () => 'Das wurde vorher abgebrochen.'],
  [/^There is no \[WAKE AGENTS\]/, () => 'Niemand hat das Team gerufen, und das kannst nur du.'],
];

/** Null: it is none of these. */
export function inGerman(answer: string): string | null {
  return INBOX_LINES[0][0].test(answer.split('\n', 1).join('')) ? inboxIn(answer) : firstSaid(ROWS, answer);
}
/** It says by itself that nothing came of it. */
export const isStoppedWake = (answer: string): boolean => WAKE_STOPPED[0].test(answer);
