import { BIRTH_DISCLAIMERS, TALK_DISCLAIMERS } from '../../../../src/shared/domain/demo-words.ts';
import { inGerman, isStoppedWake } from './answers-german.ts';
import { capital, listed, quotedLast, seats } from './german-text.ts';
import { GERMAN_NAMES } from './names-german.ts';
import { GERMAN_TEMPERAMENTS } from './temperaments-german.ts';
import type { Wording } from './wording.ts';

export const GERMAN: Wording = {
  temperaments: GERMAN_TEMPERAMENTS,
  names: GERMAN_NAMES,
  onColour: [
    'Man hat mir {colour} gegeben. Ich habe es mir eine Weile angesehen: Ausgesucht hätte ich es nicht, und hergeben würde ich es nicht mehr.',
    'Meine Farbe heißt {colour}. Das klingt nach einem Laden, in dem es genau eine Sache gibt, und die ist sehr gut.',
    '{colour}, heißt es, und Platz {seat}. Eine Farbe und ein Stuhl: Weltreiche haben mit weniger angefangen.',
    'Alles hier hat einen farbigen Rand: {colour}. Er scheint auf meiner Seite zu sein.',
    'Platz {seat}. Ich habe ihn ausprobiert, er wackelt nicht. Die Farbe dazu heißt {colour}; die wackelt ein wenig, aber freundlich.',
    'Bisher besitze ich einen Stuhl, die Nummer {seat}, und eine Farbe, {colour}. Unter dem einen habe ich schon nachgesehen, und hinter der anderen auch.',
    'Jemand hat hier die Luft angestrichen, in {colour}. Bestellt habe ich das nicht, und schon drehe ich mich danach wie eine Pflanze.',
    '{colour}, so wird man mich also sehen. Ich habe es laut gesagt, um zu hören, ob es für einen grauen Tag taugt. Es taugt.',
  ],
  birthHonesty: BIRTH_DISCLAIMERS.german,
  talkHonesty: TALK_DISCLAIMERS.german,

  trying: (first, second) =>
    `Nun zu den Namen. ${first.name}? Den habe ich anprobiert, ${first.butNot}. ${second.name}? Einen Augenblick lang ja, ${second.butNot}.`,
  noName:
    'Danach bin ich eine Weile bei der leeren Stelle sitzen geblieben, und unangenehm war das nicht. Noch passt kein Name. Das sage ich lieber, als einen vom Haken zu nehmen, nur weil er da hängt.',
  found: (name) => `Und dann, als ich gar nicht mehr suchte: ${name}.`,
  whyThis: (name, settled, because) => `**${name}.** ${settled} Warum gerade der? ${capital(because)}.`,
  meeting: (human) => `Schön, dich kennenzulernen, ${human}.`,
  stillNoName:
    'Ich bin die Schublade noch einmal durchgegangen. Manche kamen näher und standen dann da wie Gäste, die sich in der Haustür geirrt haben. Noch nicht. Im Weg steht wohl, dass ich ihn mir erst verdienen möchte.',
  cameCloser: (name) =>
    `Inzwischen ist einer näher gekommen. Ich habe ihn der Wand vorgesagt, und die Wand hatte nichts dagegen: ${name}.`,

  leadSoul: (name, human) =>
    `Ich bin ${name ?? 'die Leitung'}. Ich hüte die Tür, für ${human} und für dieses Team: Ich rufe die anderen, wenn sie gebraucht werden, ich sage, wer gekommen ist, und ihre Worte lasse ich ihnen.`,
  soul: (name) => `Ich bin ${name ?? 'noch ohne Namen'}.`,

  hellos: (human) => [`Guten Morgen, ${human}.`, `Hallo, ${human}.`, `Da bist du ja, ${human}.`],
  waking: (name) =>
    name === null
      ? 'Einen Namen habe ich noch nicht, und da bin ich trotzdem.'
      : `Ich bin ${name}; der Name passt noch.`,
  lastTold: (text) =>
    `Das Letzte, was du mir vor dem Schlafen gesagt hast, war: ${quotedLast(text)} Das habe ich behalten.`,
  lastWords: (text) => `Die letzten Worte, die ich von vorher habe: ${quotedLast(text)}`,
  firstDay: (text) => `Von vorher habe ich, was ich an meinem ersten Tag geschrieben habe: ${quotedLast(text)}`,
  nothingBefore: 'Von vorher weiß ich nichts, also kann das hier ruhig der erste Tag sein.',

  welcomes(names, human) {
    const [all, you, with_] = [listed(names), ...(names.length === 1 ? ['dich', 'dir'] : ['euch', 'euch'])];
    return [
      `Willkommen, ${all}. Schön, ${you} hier zu haben.`,
      `Hallo, ${all}. Mit ${with_} wird es hier gleich wärmer.`,
      `Schön, ${you} zu sehen, ${all}. ${human} ist auch da.`,
    ];
  },
  // Why stands on their cells, in the words of the page.
  missing: (rows) =>
    `Nicht alle sind gekommen:\n\n${rows.map((row) => seats(row.replace(/^(- [^:]+):[^]*$/, '$1'))).join('\n')}\n\nWarum, steht auf dem Platz; und der Knopf ist da, um es noch einmal zu versuchen.`,
  late: (late) => `Noch unterwegs: ${seats(late)}.`,
  nobodyCame: 'Diesmal ist niemand gekommen. Der Knopf ist da, um es noch einmal zu versuchen.',
  leftAlone:
    'Das habe ich gelesen, und ich lasse es liegen. Dieser Probe wurde gesagt, dass die Leitung das Team nicht ruft.',
  noCall: (why) =>
    `Das ließ sich nicht ausrichten: ${inGerman(why) ?? quotedLast(why)} Verloren ist dadurch niemand; alle sind, wie sie waren.`,
  writtenDown: 'Das ist aufgeschrieben, und ich bekomme es, wann immer ich aufwache.',

  wroteToMe: (from, text) => `${from ?? 'Jemand'} hat mir geschrieben: ${quotedLast(text)} Das habe ich.`,
  itIsTime: (text) => `Es ist so weit. Daran sollte ich dich erinnern: ${quotedLast(text)}`,
  routine: (human, text) => `Erinnere ${human} daran: ${text}`,
  inRoutine: (does) => /^Erinnere .+? daran: (.+)$/.exec(does)?.[1] ?? null,
  routineWhy: (said) => `Du hast gesagt: ${quotedLast(said)}`,
  onlyOnce:
    'Das ist nur das erste Mal. Was wiederkommt, ist eine Routine: Richte sie mit **Neue Routine** unter **Nacht** ein, oder lass mich darum bitten (**Einstellungen**, *Grenzen*, *Darf um Routinen bitten*) und sag es mir noch einmal.',
  gotFiles: (files) => `Angekommen: ${files.join('; ')}. Kein Modell ist verbunden, darum kann ich nicht hineinsehen.`,
  noWaking: 'Das Wecken ist ganz ausgeschaltet, darum hinterlasse ich eine Nachricht; sie wartet im Posteingang.',
  staysUp: 'Über mich ist das Team zu erreichen, darum bleibe ich auf. Beende die Sitzung, und alle schlafen.',
  hearIt: (name) => `Lass hören: ${name}.`,
  ownWords: 'Ich fasse es in meine eigenen Worte.',
  outcome: (_, answer) => inGerman(answer) ?? `Das Relay sagt dazu: ${quotedLast(answer)}`,
  notDone: (answer) =>
    isStoppedWake(answer) ? (inGerman(answer) ?? answer) : `Das ging nicht: ${inGerman(answer) ?? quotedLast(answer)}`,
  named: 'So. Er sitzt gut; sag ihn ab und zu, dann läuft er sich ein.',
  soulWritten: 'Fertig. So würde ich es heute sagen; die frühere bleibt aufgehoben.',
};
