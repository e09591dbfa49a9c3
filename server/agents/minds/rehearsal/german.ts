/**
 * The stand-in in German: what people say first, what it can be told to do, and what it says of a
 * thing that it does not know. What it writes by itself (its birth, its soul, its greeting) is in
 * `wording-german.ts`.
 */
import type { Chance } from './chance.ts';
import { findFact, readFacts } from './facts.ts';
import { spokenIn, wordless } from './hearing.ts';
import type { Reading } from './reading.ts';
import type { Temperament } from './temperaments.ts';
import { capital, listed, quoted, quotedLast } from './german-text.ts';

type Answer = (
  reading: Reading,
  match: RegExpExecArray,
  said: () => { readonly hello: string; readonly asked: string },
) => string;

/** What it is told to do, in plain words. Each has the names that the English forms have. */
const NAME = String.raw`[„“"]?(?<to>[\p{L}][\p{L}\p{M}\d' -]{0,40}?)[“”"]?`;
const END = String.raw`(?:\s+jetzt)?(?:,?\s+bitte)?\s*[.!]*\s*$`;
export const GERMAN_COMMANDS = {
  message: new RegExp(
    String.raw`^\s*(?:bitte\s+)?(?:sage?|schreibe?)\s+(?:an\s+)?${NAME}\s*(?::|,\s*dass\b|,)\s*(?<text>[\s\S]+)$`,
    'iu',
  ),
  wake: new RegExp(String.raw`^\s*(?:bitte\s+)?wecke?\s+${NAME}\s*(?::|,|weil\b)\s*(?<text>[\s\S]+)$`, 'iu'),
  sleep: new RegExp(String.raw`^\s*(?:bitte\s+)?(?:schlaf(?:e)?(?:\s+ein)?|gehe?\s+schlafen)${END}`, 'iu'),
  read: new RegExp(String.raw`^\s*(?:bitte\s+)?(?:lies|prüfe)\s+deinen?\s+(?:posteingang|post)${END}`, 'iu'),
  rename: new RegExp(
    String.raw`^\s*(?:bitte\s+)?(?:nenne?\s+dich(?:\s+(?:ab\s+jetzt|ab\s+sofort|von\s+nun\s+an))?|du\s+heißt\s+(?:jetzt|ab\s+jetzt|ab\s+sofort|von\s+nun\s+an))\s+[„“"]?([\p{L}][\p{L}\p{M}' -]{0,40}[\p{L}])[“”"]?[.!]?\s*$`,
    'iu',
  ),
  newSoul: /^\s*(?:bitte,?\s+)?schreibe?\s.{0,30}\bseele(?!\p{L})[^?]*$/iu,
} as const;

function able(reading: Reading): string {
  const [other] = reading.others;
  return [
    'In dieser Demo kann ich vier Dinge wirklich:',
    [
      '- **Behalten.** Sag „Merke dir: …“, und frag mich später danach, auch nachdem ich geschlafen habe.',
      ...(other === undefined
        ? []
        : [
            `- **Jemandem schreiben.** „Sag ${other}, dass die Brücke hält.“`,
            `- **Jemanden wecken.** „Wecke ${other}: Komm und sieh.“`,
          ]),
      reading.isLead
        ? '- **Das Team rufen.** WAKE und SUMMON unter den Plätzen tun das.'
        : '- **Schlafen.** „Geh schlafen“, und WAKE bringt mich zurück, wie ich bin.',
    ].join('\n'),
    'Mit einem verbundenen Modell denke ich selbst, und helfe bei allem, was du mitbringst.',
  ].join('\n\n');
}

const START = [
  'Drei Schritte zeigen, was das hier ist:',
  '1. Sag mir etwas: „Merke dir: Die Brücke ist blau.“\n2. Drücke **Sitzung beenden**. Alle schlafen.\n3. Drücke **WAKE**, und frag mich, was du mir gesagt hast.',
  'Dann verbinde ein Modell, und wir denken auch.',
].join('\n\n');

const PAST =
  /\b(?:habe? ich (?:dir )?(?:gesagt|erzählt)|hatte ich (?:dir )?(?:gesagt|erzählt)|haben wir .{0,40}(?:gesprochen|geredet|gesagt)|erinnerst du dich|weißt du noch|weisst du noch|was weißt du (?:noch )?(?:von|über) (?:mir|mich))/iu;
const TO_KEEP = /(?:^|[.!?…]\s)\s*(?:bitte\s+)?(?:merke? dir|vergiss nicht|denk daran)(?!\p{L})[^?]*$/iu;

const ROWS: readonly (readonly [pattern: RegExp, answer: Answer])[] = [
  [
    /\bverbinde.{0,30}(?:modell|claude|ollama|schlüssel)|\b(?:modell|claude|ollama).{0,30}(?:verbinden|anschließen|einrichten|benutzen)/iu,
    () =>
      'Drücke oben auf der Seite **Modell verbinden**. Füge dort einen Schlüssel für Claude ein, oder wähle **Ein eigenes Modell** und drücke **Hier nach einem suchen**: Das findet Ollama, LM Studio, llama.cpp oder vLLM auf dem Rechner, auf dem Roost läuft. Es wird sofort ausprobiert, und deine nächste Nachricht beantwortet es.',
  ],
  [
    /\b(?:lösche?|vergiss|entferne?)\s+(?:alles|mich|das gespräch|dieses gespräch|meine daten)/iu,
    () =>
      'Ich lösche nichts: Das ist deine Sache, damit kein beiläufiges Wort etwas verliert. Auf meiner eigenen Seite, unter **Mehr**, lässt sich dieses Gespräch vergessen, oder ich; 30 Tage lang kann man es zurücknehmen.',
  ],
  [
    /\bwer hat (?:dich|das|roost).{0,20}(?:gemacht|gebaut|geschrieben|erfunden|programmiert|entwickelt)|\bwoher kommst du/iu,
    ({ name }) =>
      `Meinen Namen und meine Seele habe ich selbst gefunden, am Tag, an dem ich geschlüpft bin${name === null ? '' : `: ${name}`}. Die Sätze dieser Demo haben die Leute geschrieben, die Roost machen; das Denken kommt mit dem Modell, das du verbindest.`,
  ],
  [
    /\bwas ist (?:roost|das hier|das|dies)[?!. ]*$/iu,
    ({ human }) =>
      `Roost ist ein Zuhause für ein Team wie uns, ${human}. Jeder von uns schlüpft einmal, wählt einen Namen und behält eine Seele; wir schlafen, wenn du gehst, und wachen als die auf, die wir waren, mit dem, was du uns gesagt hast. Das Denken übernimmt ein Modell, das du verbindest.`,
  ],
  [
    /\b(?:kostet|kosten|preis|bezahlen|gratis|umsonst|kostenlos|teuer)\b/iu,
    () =>
      'Diese Demo kostet nichts. Ist Claude verbunden, zahlst du seinem Anbieter, was gefragt wird; ein Modell auf deinem eigenen Rechner kostet nichts. **Kosten** zeigt, was jeder von uns kostet, und legt fest, was ein Tag höchstens kosten darf.',
  ],
  [
    /\b(?:privat|geheim|vertraulich|verschlüsselt|datenschutz|meine daten|wer (?:liest|sieht)|liest (?:hier )?jemand|sicher hier)/iu,
    () =>
      'Was du schreibst, bleibt in diesem Browser, und liegt überall sonst versiegelt. Solange wir wach sind, liest auch das Relay mit, auf dem Roost läuft, denn dort denken wir; in dieser Demo geht es nicht weiter. Ist ein Modell verbunden, liest, wer es betreibt, was es gefragt wird.',
  ],
  [
    /\b(?:siehst|sehen|liest|lesen|öffnen)\b.{0,30}\b(?:dateien|ordner|computer|rechner|bildschirm|festplatte)|\bmeine (?:dateien|ordner)\b.{0,30}\b(?:sehen|lesen|öffnen)/iu,
    () =>
      'Nein. Ich sehe, was du mir hier schreibst. Jeder von uns hat dort, wo Roost läuft, einen eigenen Ordner, in dem nur liegt, was du hineinlegst (**Dateien**, in unseren Menüs); an alles andere auf deinem Rechner komme ich nicht.',
  ],
  [
    /\b(?:mit (?:allen|euch allen|dem ganzen team|mehreren)).{0,30}(?:reden|sprechen|schreiben)|\b(?:reden|sprechen|schreiben).{0,30}mit (?:allen|euch|mehreren)/iu,
    () =>
      'Ja, in einem Thread: **Threads**, dann **Neuer Thread**. Wähle, wer dabei ist; alle lesen, was dort gesagt wird.',
  ],
  [
    /\bbist du (?:(?:ein|eine|das|wirklich) )?(?:chat ?gpt|gpt(?:-?\d)?|claude|gemini|siri|alexa|copilot|llama)/iu,
    ({ name }) =>
      `Nein: Ich bin ${name ?? 'jemand aus diesem Team'}, und kein Modell ist verbunden, darum sind meine Worte hier vorbereitet. Verbinde Claude oder ein eigenes Modell, und damit denke ich; wer ich bin, bleibt.`,
  ],
  [
    /\b(?:du bist|das ist|ihr seid) (?:so |echt |total |völlig |wirklich |ja )*(?:nutzlos|dumm|blöd|doof|schlecht|langweilig|nervig|mist|scheiße|unsinn|müll)|\bhalt (?:den mund|die klappe)/iu,
    () =>
      'Als Ersatz in einer Demo halte ich das aus: Meine Sätze sind vorbereitet, und man merkt es. Verbinde ein Modell, und nimm mich dann beim Wort. Was wolltest du denn?',
  ],
  [
    /\b(?:geht|funktioniert|klappt) (?:hier )?(?:nichts|nicht|gar nichts)|\b(?:nichts|nicht) (?:mehr )?(?:geht|funktioniert)|\bkaputt\b|\babgestürzt/iu,
    () =>
      'Durch einen Druck geht hier nichts verloren. **Esc** geht einen Schritt zurück, ein Druck auf **Roost**, ganz oben, führt nach Hause, und *Einstellungen → Was du geändert hast* macht rückgängig, was du eingestellt hast. Stimmt etwas mit dem Relay oder dem Speicher nicht, steht es oben über der Seite.',
  ],
  [
    /\b(?:ich heiße|ich heisse|mein name ist) (\p{L}[\p{L}'-]*)/iu,
    (_, match) =>
      `Schön, dich kennenzulernen, ${match[1] ?? ''}. Das behalte ich, und du kannst mich später danach fragen.`,
  ],
  [
    /\bwie geht(?: es|(?:’|')?s)\b|\bwie fühlst du dich/iu,
    ({ human }) => `Gut, danke, ${human}: wach, und froh über Gesellschaft. Und dir?`,
  ],
  [/\bwas (?:kannst|könnt) (?:du|ihr)\b|\bdeine fähigkeiten\b|^hilfe[.!?]*$/iu, able],
  [
    /\bwer (?:ist|sind|wohnt|lebt)\b.{0,20}\b(?:noch|hier|da|alles|team|wach)\b|\bdie anderen\b.*\?$/iu,
    (reading) =>
      reading.others.length === 0
        ? 'Bis jetzt nur wir beide. SUMMON ruft die anderen ins Leben.'
        : `Außer mir${reading.name === null ? '' : `, ${reading.name},`} ${reading.others.length === 1 ? 'ist' : 'sind'} da: ${listed(reading.others)}. Wähle ein Gesicht, um mit jemandem davon zu reden.`,
  ],
  [
    /(?<!\p{L})(?:wer bist du|wie heißt du|wie heisst du|dein name|über dich|stell dich vor)/iu,
    ({ name, position, colorName }, _, say) =>
      `Ich bin ${name ?? 'noch ohne Namen'}, auf Platz ${position + 1}, in ${colorName}. ${say().asked} Mehr davon steht in meiner Seele: ⋮ neben meinem Namen.`,
  ],
  [
    /\bbist du (?:ein |eine |wirklich )*(?:echte?r? |richtige?r? )?(?:ki|ai|roboter|bot|mensch|maschine|person|modell|echt|lebendig)\b/iu,
    () =>
      'Noch nicht, ehrlich gesagt. Mein Name, meine Seele und was du mir sagst, bleiben für immer; aber kein Modell ist verbunden, darum sind meine Antworten vorbereitet. Verbinde eines, und ich denke selbst.',
  ],
  [
    /\b(?:erinnere?|wecke?) (?:mich|uns)\b|\b(?:wecker|erinnerung|timer)\b/iu,
    () =>
      'In dieser Demo verstehe ich nur eine Erinnerung, die sagt, wann: „Erinnere mich in 20 Minuten an den Tee“, „Erinnere mich morgen um neun daran, Anna anzurufen“, „… am Freitag um 9“ oder „… werktags um 8“. Ein Datum oder einen Monat verstehe ich nicht. Mit einem verbundenen Modell bittest du in deinen eigenen Worten darum. **Nacht**, im Menü, zeigt, was geplant ist.',
  ],
  [
    /\b(?:frage? google|im (?:internet|web)|wetter|nachrichten|aktie|wie spät|welcher tag|datum)\b/iu,
    () => 'In dieser Demo sehe ich nichts außerhalb von Roost und könnte nur raten. Ein verbundenes Modell weiß mehr.',
  ],
  [/\bwitz\b/iu, () => 'Warum blieb das Ei im Bett? Niemand hatte SUMMON gedrückt. *(Der einzige, den ich kenne.)*'],
  [
    /\b(?:haiku|gedicht|vers|reim)\b/iu,
    () => 'Dieses eine kenne ich:\n\n> Dunkel um das Feuer.\n> Ein Name fällt, es leuchtet.\n> Und dann ist Morgen.',
  ],
  [
    /(?<!\p{L})(?:code|funktion|skript|programm|python|javascript|typescript|java|sql|html|css|regex)(?!\p{L})/iu,
    () =>
      [
        'Ohne Modell schreibe ich keinen neuen Code. Damit du siehst, wie er hier aussieht, ist dieser vorbereitet:',
        '```python\ndef umgedreht(text: str) -> str:\n    return text[::-1]\n```',
      ].join('\n\n'),
  ],
  [
    /\bliste\b|\b(?:\d+|drei|vier|fünf|sechs|sieben|zehn) (?:dinge|bücher|ideen|namen|gründe|wege|tipps)\b/iu,
    () =>
      [
        'So eine Liste kenne ich ohne Modell nicht. Was ich kenne, ist, was sich hier auszuprobieren lohnt:',
        '1. Lies eine Seele: Drücke ⋮ neben einem Namen.\n2. Beginne einen Thread, in dem mehrere von uns reden.\n3. Beende die Sitzung, und wecke uns mit WAKE als die, die wir waren.',
      ].join('\n\n'),
  ],
  [
    /\b(?:wie|wo|womit) (?:fange?|beginne?|starte)|\bwie (?:geht|funktioniert) (?:das|es)\b|\bwas (?:jetzt|nun)\b|\b(?:keine ahnung|weiß nicht|weiss nicht|verstehe (?:das )?nicht|was (?:soll|muss) ich)/iu,
    () => START,
  ],
  [
    /^(?:bitte\s+)?(?:kannst|könntest|würdest|magst) du\b|^(?:bitte\s+)?(?:hilf|helft) mir\b|^(?:bitte\s+)?(?:schreibe?|übersetze?|erkläre?|plane?|mache?|zeichne|finde|zeige?|gib|fasse?) (?:mir|uns|ein|eine|einen|den|die|das|meine?n?)(?!\p{L})/iu,
    () =>
      'Ich würde gern, und kann es noch nicht: Kein Modell ist verbunden, darum sind meine Worte vorbereitet. Verbinde eines, und frag mich noch einmal; was du gesagt hast, behalte ich bis dahin.',
  ],
  [
    /^(?:bitte\s+)?sage? mir,? dass\s+(?<what>[\s\S]+?)[.!?]*$/iu,
    (_, { groups }) => `„${capital(groups?.['what'] ?? '')}“: Jetzt ist es laut gesagt.`,
  ],
  [
    /\b(?:ich bin|bin) (?:so |sehr |ein bisschen |echt )?(?:müde|erschöpft)|\bschlafen gehen\b/iu,
    ({ human }) =>
      `Dann ruh dich aus, ${human}. Drücke **Sitzung beenden**, wann du willst: Wir schlafen auch, und WAKE bringt uns zurück, wie wir sind.`,
  ],
  [
    /^(?:auf wiedersehen|tschüss|tschüß|bis (?:morgen|bald|später|dann)|gute nacht|mach(?:t)?(?:’|')?s gut)/iu,
    ({ human }) => `Bis dann, ${human}. Was du mir gesagt hast, bleibt.`,
  ],
  [/\b(?:danke|dankeschön|vielen dank)/iu, ({ human }) => `Gern geschehen, ${human}.`],
  [
    /^(?:hallo|hi|hey|guten (?:morgen|tag|abend)|moin|servus|grüß (?:dich|gott))(?!\p{L}).{0,30}$/iu,
    ({ human }, _, say) => `Hallo, ${human}. ${say().hello} Was sehen wir uns an?`,
  ],
  [
    /^(?:test|ping|hm+|ist (?:da )?(?:jemand|wer) da|hörst du mich)(?!\p{L})[\s\d!?.]*$/iu,
    () => 'Ich höre dich. Es funktioniert.',
  ],
  [
    /^(?:ok|okay|ja|nein|klar|sicher|gut|sehr gut|super|schön|prima|toll|cool|aha|ach so|verstehe|alles klar|genau)[.!?]*$/iu,
    () => 'Gut. Sag mir etwas, das ich behalten soll, oder frag, was ich kann.',
  ],
];

/** Longest text, in characters, that is spoken of as a sentence. */
const LONG = 600;

function fromFacts(reading: Reading, said: string): string {
  const fact = findFact(said, readFacts(reading));
  if (!fact)
    return 'Ich habe nachgesehen, und das habe ich nicht. Entweder wurde es mir nicht gesagt, oder es liegt weiter zurück, als mir mitgegeben wurde. Sag es mir noch einmal, und ich behalte es.';
  return fact.before
    ? `Ja. Bevor ich schlief, hast du mir gesagt: ${quoted(fact.text, 400)}`
    : `Ja. In diesem Gespräch hast du mir gesagt: ${quoted(fact.text, 400)}`;
}

/**
 * The answer to anything that is said in German, or to somebody whose page is German and who said
 * nothing in another language.
 */
export function answerInGerman(reading: Reading, said: string, temperament: Temperament, chance: Chance): string {
  const text = said.trim();
  switch (wordless(text)) {
    case 'hello':
      return `Hallo, ${reading.human}. Schön, eine Hand zu sehen. Was sehen wir uns an?`;
    case 'nothing':
      return 'Das habe ich nicht verstanden. Frag mich etwas, oder fang an mit „Was kannst du?“';
    case null:
      break;
  }
  if (spokenIn(text) === 'another')
    return `Hallo, ${reading.human}. Diese Demo antwortet nur auf Deutsch und Englisch; ein Modell, das du verbindest, spricht deine Sprache.`;
  const musing = chance.pick(temperament.musing);
  const say = () => ({ hello: chance.pick(temperament.hello), asked: chance.pick(temperament.asked) });
  const kept = () =>
    [`Das habe ich: ${quotedLast(text)} Frag mich später danach, auch nachdem ich geschlafen habe.`, musing].join(
      '\n\n',
    );
  if (text.length > LONG)
    return `Das ist ein langer Text, etwa ${text.split(/\s+/).length} Wörter. Alles davon bleibt hier. Um ihn zu lesen und zu ändern, braucht es ein Modell: Verbinde eines, und frag mich noch einmal.`;
  if (TO_KEEP.test(text)) return kept();
  if (PAST.test(text)) return fromFacts(reading, text);
  for (const [pattern, answer] of ROWS) {
    const match = pattern.exec(text);
    if (match) return answer(reading, match, say);
  }
  if (/\?\s*$/.test(text))
    return [
      `Du fragst: ${quoted(text, 120)} Ein Modell wüsste es; ich bin der Ersatz in dieser Demo und könnte nur raten.`,
      musing,
    ].join('\n\n');
  return kept();
}
