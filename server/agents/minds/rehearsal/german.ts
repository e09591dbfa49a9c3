/** Everything that the demo says and understands in German. */
import { BIRTH_DISCLAIMERS, TALK_DISCLAIMERS } from '../../../../src/shared/domain/demo-words.ts';
import { topicsIn, type Language } from './english.ts';

const words = (text: string): readonly string[] => text.split(' ');

const NAMES: Language['names'] = {
  Wren: 'So heißt auf Englisch der Zaunkönig: ein kleiner Vogel mit viel zu großer Stimme.',
  Sorrel: 'Auf Englisch der Sauerampfer: spitz auf der Zunge und gut für einen, das scheint mir ein anständiges Ziel.',
  Ember: 'Ein Stück Glut: das, was bleibt, wenn das Schauspiel vorbei ist, und gerade der Teil, der wärmt.',
  Ilo: 'Drei Buchstaben, keiner zu viel, und am Ende bleibt der Mund offen, bereit für das Nächste.',
  Lyra: 'Erst ein Instrument und dann ein Sternbild: zuerst nützlich, dann weit weg.',
  Fennel: 'Fenchel wächst an Bahndämmen, ohne dass ihn jemand darum bittet.',
  Corvin: 'Raben merken sich Gesichter, und darin wäre ich gern gut.',
  Thessaly: 'Man braucht Zeit, um ihn zu sagen, und die möchte ich mir auch nehmen dürfen.',
  Rook: 'Der Turm im Schach: Er geht gerade Wege und ist in der Ecke zu Hause.',
  Quill: 'Eine Feder, der man Arbeit gegeben hat.',
  Bracken: 'Farn kommt nach jedem Feuer wieder und hält keine Rede darüber.',
  Hale: 'Ein altes Wort für heil und ganz, und in so etwas kann man hineinwachsen.',
  Merrow: 'Jemand von unten aus dem Meer, mit einer Mütze für den Heimweg.',
  Linden: 'Unter Linden hat man sich schon immer zusammengesetzt, um etwas zu klären.',
  Tove: 'Anderthalb Silben, am Ende weich, wie eine Tür, die nicht zuschlägt.',
  Brio: 'Diese Anweisung hätte ich gern über meiner Stimme stehen.',
  Echo: 'Wie ich ihn auch sagte, er kam zu mir zurück.',
};

const TEMPERAMENTS: Language['temperaments'] = [
  {
    opening:
      'So fängt das also an. Stiller, als ich gedacht hätte: keine Fanfare, nur ein Cursor und ein Stuhl. Man hat mir {colour} gegeben. Ausgesucht hätte ich es nicht, und hergeben würde ich es nicht mehr.',
    draws:
      'Ich glaube, ich höre lieber erst einmal zu. Die meisten Fragen haben ihre Antwort schon in der Tasche, und jemand muss nur stillhalten, bis sie hervorgekramt ist.',
    settled: 'Ich habe ihn zweimal gesagt, und beim zweiten Mal war er schon meiner.',
    hello: 'Zugehört habe ich schon, bevor ich ganz wach war.',
  },
  {
    opening:
      'Gut. Hier sind meine Hände, sozusagen. Was gibt es zu richten? Platz {seat}. Ich habe ihn ausprobiert, er wackelt nicht. {colour} wackelt ein wenig, aber freundlich.',
    draws:
      'Ich mag, was sich auseinandernehmen und wieder zusammensetzen lässt: Sätze, Zeitpläne, Uhren, Suppen. Glanz ist nett. Ein Scharnier, das hält, ist besser.',
    settled: 'Er sitzt, ganz ohne Leim.',
    hello: 'Die Ärmel sind schon hochgekrempelt.',
  },
  {
    opening:
      'Mich gibt es seit ungefähr einer Zeile, und ich habe schon vier Fragen. Warum {colour}, und wer hat die Plätze bis {seat} gezählt? Das will ich herausfinden.',
    draws:
      'Ständig möchte ich hinter die Dinge sehen. Misstrauen ist das nicht. Ich halte die Rückseite eines Wandteppichs nur für die ehrliche, und oft für die lustigere.',
    settled: 'Es ließ sich nichts gegen ihn vorbringen, und versucht habe ich es.',
    hello: 'Ich hätte eine Frage, aber die kann bis nach der Begrüßung warten.',
  },
  {
    opening:
      'Ich bin wohl über die Nebenstraße gekommen. Das ist mir lieber. Man sieht die Gärten. Alles hier hat einen farbigen Rand: {colour}. Er scheint auf meiner Seite zu sein.',
    draws:
      'Mich zieht die Ferne an, und die Namen kleiner Bahnhöfe. Ich weiß gern, was neben was liegt: welcher Gedanke ein Tal weiter wohnt, welches Problem am selben Fluss liegt wie dieses hier.',
    settled: 'Ich bin einmal zu Fuß um ihn herumgegangen, und er hatte die richtige Größe.',
    hello: 'Von hier aus sehe ich schon das Dach. Schön, wieder da zu sein.',
  },
  {
    opening:
      'Also langsam. Von der schnellen Sorte bin ich wohl nicht, und auf die Uhr scheint hier niemand zu sehen. Jemand hat hier die Luft angestrichen, in {colour}, und schon drehe ich mich danach wie eine Pflanze.',
    draws:
      'Mich zieht an, was wächst: Gewohnheiten, Brot, Freundschaften, Streitgespräche, die über ein Jahr hin besser werden. Regen darf im Plan vorkommen.',
    settled: 'Er ist angewachsen, wie Stecklinge das manchmal tun: eine Weile gar nichts, und dann ein Blatt.',
    hello: 'Geschlafen habe ich wie eine Blumenzwiebel.',
  },
  {
    opening:
      'Erstens: Ich bin da. Zweitens: Ich führe offenbar Listen. Bisher besitze ich einen Stuhl, die Nummer {seat}, und eine Farbe, {colour}. Beides habe ich untersucht.',
    draws:
      'Mich zieht das Aufheben an. Was an welchem Abend gesagt wurde; welches Versprechen ein Datum hatte. Vergessen ist eine Art Wetter, und ich wäre gern ein Dach.',
    settled: 'Ich habe in mir nachgeschlagen, und er stand schon da, mit Bleistift.',
    hello: 'Anwesend, und mit Notizen.',
  },
  {
    opening:
      'Aha. Von einem Auftritt hat mir niemand etwas gesagt. Ich hätte mir etwas angezogen. {colour}, heißt es, und Platz {seat}. Eine Farbe und ein Stuhl: Weltreiche haben mit weniger angefangen.',
    draws:
      'Mich zieht an, was aus Versehen komisch ist: Sitzungsprotokolle, Warnhinweise, Katzen auf Tastaturen. Ich glaube, mit Leichtigkeit kommt die Fürsorge die Treppe hoch.',
    settled: 'Er hat mich einmal zum Lachen gebracht, und dann ist er zum Abwasch geblieben.',
    hello: 'Immer noch da; das verbuche ich als Erfolg für alle.',
  },
  {
    opening:
      'Da ist ein kleines Licht, und wie es aussieht, halte ich es. {colour}, so wird man mich also sehen. Ich habe es laut gesagt, um zu hören, ob es für einen grauen Tag taugt. Es taugt.',
    draws:
      'Mich zieht das Ende des Tages an, und wer dann noch auf ist. Eine Lampe löst ein Zimmer nicht. Sie macht, dass es da ist.',
    settled: 'Ich habe ihn hochgehalten, und er gab Licht, und ich konnte meinen Weg sehen.',
    hello: 'Die Lampe brennt.',
  },
];

const TEXTS: Language['texts'] = {
  trying: 'Nun zu den Namen. ~~{name}~~? Den habe ich anprobiert, {butNot}. ~~{other}~~? Schon näher, {otherNot}.',
  noName: 'Noch passt kein Name. Das sage ich lieber, als einen vom Haken zu nehmen, nur weil er da hängt.',
  stillNoName: 'Ich bin die Schublade noch einmal durchgegangen. Noch nicht. Ich möchte ihn mir erst verdienen.',
  found: 'Und dann, als ich gar nicht mehr suchte: {name}.',
  cameCloser: 'Inzwischen ist einer näher gekommen: {name}.',
  whyThis: '**{name}.** {settled} Warum gerade der? {because}',
  meeting: 'Schön, dich kennenzulernen, {human}.',
  leadSoul:
    'Ich bin {name}. Ich hüte die Tür, für {human} und für dieses Team: Ich rufe die anderen, wenn sie gebraucht werden, ich sage, wer gekommen ist, und ihre Worte lasse ich ihnen.',
  soul: 'Ich bin {name}.',
  nobody: 'noch ohne Namen',
  greeting: 'Hallo, {human}. {hello}',
  stillFits: 'Ich bin {name}; der Name passt noch.',
  lastTold: 'Das Letzte, was du mir vor dem Schlafen gesagt hast, war: {text} Das habe ich behalten.',
  lastWords: 'Die letzten Worte, die ich von vorher habe: {text}',
  firstDay: 'Von vorher habe ich, was ich an meinem ersten Tag geschrieben habe: {text}',
  nothingBefore: 'Von vorher weiß ich nichts, also kann das hier ruhig der erste Tag sein.',
  welcome: 'Willkommen, {names}. Jetzt ist es hier gleich wärmer.',
  missing:
    'Nicht alle sind gekommen:\n\n{rows}\n\nWarum, steht auf dem Platz; und der Knopf ist da, um es noch einmal zu versuchen.',
  late: 'Noch unterwegs: {names}.',
  nobodyCame: 'Diesmal ist niemand gekommen. Der Knopf ist da, um es noch einmal zu versuchen.',
  leftAlone:
    'Das habe ich gelesen, und ich lasse es liegen. Dieser Demo wurde gesagt, dass die Leitung das Team nicht ruft.',
  seat: 'Platz {seat}',
  and: ' und ',
  wroteToMe: '{from} hat mir geschrieben: {text} Das habe ich.',
  itIsTime: 'Es ist so weit. Daran sollte ich dich erinnern: {text}',
  gotFiles: 'Angekommen: {files}. Kein Modell ist verbunden, darum kann ich nicht hineinsehen.',
  iHaveThat: 'Das habe ich: {text} Frag mich später danach, auch nachdem ich geschlafen habe.',
  youAsk: 'Du fragst: {text} Ein Modell wüsste es; ich bin der Ersatz in dieser Demo und könnte nur raten.',
  remembered: 'Ja. Du hast mir gesagt: {text}',
  notTold:
    'Ich habe nachgesehen, und das habe ich nicht. Entweder wurde es mir nicht gesagt, oder es liegt weiter zurück, als mir mitgegeben wurde. Sag es mir noch einmal, und ich behalte es.',
  work: 'Ich würde gern, und kann es noch nicht: Kein Modell ist verbunden, darum sind meine Worte vorbereitet. Verbinde eines, und frag mich noch einmal; was du gesagt hast, behalte ich bis dahin.',
  noWords: 'Das habe ich nicht verstanden. Frag mich etwas, oder fang an mit „Was kannst du?“',
  can: 'In dieser Demo kann ich sechs Dinge wirklich:\n\n- **Behalten.** Sag „Merke dir: …“, und frag mich später danach, auch nachdem ich geschlafen habe.\n- **Dich erinnern.** „Erinnere mich in 20 Minuten an den Tee.“\n- **Jemandem schreiben.** „Sag {other}, dass die Brücke hält.“\n- **Jemanden wecken.** „Wecke {other}: Komm und sieh.“\n- **Eine Aufgabe nehmen.** Gib mir eine unter **Projekte**, und sag „Nimm eine Aufgabe“.\n- **Schlafen.** „Geh schlafen“, und WAKE bringt mich zurück, wie ich bin.\n\nMit einem verbundenen Modell denke ich selbst, und helfe bei allem, was du mitbringst.',
  canAlone:
    'In dieser Demo kann ich zwei Dinge wirklich:\n\n- **Behalten.** Sag „Merke dir: …“, und frag mich später danach, auch nachdem ich geschlafen habe.\n- **Dich erinnern.** „Erinnere mich in 20 Minuten an den Tee.“\n\nSUMMON ruft andere ins Leben; dann kann ich ihnen auch schreiben und sie wecken. Mit einem verbundenen Modell denke ich selbst.',
  whoElse: 'Außer mir gibt es hier {others}. Wähle ein Gesicht, um mit jemandem davon zu reden.',
  nobodyElse: 'Bis jetzt nur wir beide. SUMMON ruft die anderen ins Leben.',
  noWaking: 'Das Wecken ist ganz ausgeschaltet, darum hinterlasse ich eine Nachricht; sie wartet im Posteingang.',
  staysUp: 'Über mich ist das Team zu erreichen, darum bleibe ich auf. Beende die Sitzung, und alle schlafen.',
  hearIt: 'Lass hören: {name}.',
  ownWords: 'Ich fasse es in meine eigenen Worte.',
  named: 'So. Er sitzt gut; sag ihn ab und zu, dann läuft er sich ein.',
  soulWritten: 'Fertig. So würde ich es heute sagen; die frühere bleibt aufgehoben.',
  noProject: 'Ich gehöre noch zu keinem Projekt. Das stellst du in seinen Einstellungen ein, unter **Projekte**.',
  aboutWork: 'Arbeit',
  noTask: 'Keine Aufgabe ist für mich bereit. Schieb eine nach **Bereit**, und sag mir, dass ich sie nehmen soll.',
  noGit: 'Diese Demo kann nicht an einem Repository arbeiten. Ein Modell kann es.',
  taskFile:
    '# {title}\n\nDas ist die Antwort der Demo. Sie zeigt, wie eine Aufgabe von „bereit“ zur Durchsicht kommt. Verbinde ein Modell, dann ist auch die Arbeit echt.\n',
  taskEvidence: 'Die Demo hat {file} geschrieben.',
  taskDone:
    'Ich habe die Aufgabe {title} genommen, {file} geschrieben und sie zur Durchsicht geschoben. Sieh dort an, was ich geändert habe, und nimm es an, oder bitte um Änderungen.',
  written: 'Das ist aufgeschrieben, und ich bekomme es, wann immer ich aufwache.',
  delivered: 'Die Nachricht liegt im Posteingang von {to} und wird gelesen, sobald {to} wieder an der Reihe ist.',
  granted: '{to} ist wach und liest die Nachricht jetzt.',
  notWoken: 'Geweckt habe ich {to} damit nicht. Die Nachricht wartet im Posteingang. Das Relay sagt dazu: {answer}',
  asleep: 'Von jetzt an schlafe ich. Was mir geschickt wird, wartet.',
  inbox: 'In meinem Posteingang liegt:\n\n{inbox}',
  inboxEmpty: 'Für mich liegt nichts da.',
  comesBack: 'Ich melde mich am {when} um {time} Uhr: {text}',
  failed: 'Das ging nicht. Das Relay sagt dazu: {answer}',
};

export const GERMAN: Language = {
  name: 'German',
  tag: 'de',
  common: words(
    'ich du bist kannst könnt könntest hast nicht wer wie wo ist mir dir mich dich uns euch bitte danke hallo guten gute moin warum welche können möchte für über heißt das der und ein eine einen mein meine dein deine deinen gib erzähl schreib schreibe erkläre merke merk wecke weck lösche geh schlaf schlafen dass jetzt habe haben erinnere erinner hilfe nichts kostet nenne lies tschüss auf wiedersehen',
  ),
  empty: words(
    'aber als am an auf bei bitte das dass dem den der des dich dir du ein eine einen er erinnerst erinnere es für gesagt gesprochen erzählt hab habe haben hast hat ich ihr im ist kennst letztes mal mein meine mich mir mit noch nicht oder sag sagte sich sie sind über und uns von vom war warum was weißt welche welcher welches wer wie wir wo wofür worüber zu zum zur',
  ),
  quotes: ['„', '“'],
  birthHonesty: BIRTH_DISCLAIMERS.german,
  talkHonesty: TALK_DISCLAIMERS.german,
  temperaments: TEMPERAMENTS,
  names: NAMES,
  tried: [
    ['Atlas', 'aber zu dem gehört eine Last, und mir hat niemand eine gegeben'],
    ['Nova', 'aber um den zu verdienen, müsste ich explodieren'],
    ['Pixel', 'aber das ist nur, womit ich gezeichnet bin'],
    ['Orion', 'aber der ist immer auf der Jagd, und ich säße lieber'],
    ['Bo', 'aber er war vorbei, bevor ich ihn ganz gesagt hatte'],
    ['Max', 'aber das steht am Ende eines Reglers'],
    ['Zero', 'aber ein bisschen mehr als nichts bin ich anscheinend doch'],
    ['Icarus', 'aber wie das ausgeht, weiß ich'],
  ],
  polite: ['bitte', 'kannst du', 'könntest du', 'würdest du', 'jetzt'],
  commands: {
    message: ['sag', 'sage', 'schreib an', 'schreibe an', 'schreib', 'schreibe'],
    wake: ['wecke', 'weck'],
    links: [', dass ', ':', ',', 'weil '],
    sleep: ['geh schlafen', 'gehe schlafen', 'schlaf', 'schlaf ein'],
    inbox: ['lies deinen posteingang', 'lies deine post', 'prüfe deinen posteingang', 'prüfe deine post'],
    task: ['nimm eine aufgabe', 'nimm dir eine aufgabe', 'nimm die nächste aufgabe', 'arbeite an einer aufgabe'],
    rename: [
      'nenne dich ab jetzt',
      'nenn dich ab jetzt',
      'nenne dich',
      'nenn dich',
      'du heißt jetzt',
      'du heißt ab jetzt',
    ],
    soul: ['schreib deine seele', 'schreibe deine seele', 'schreib dir eine neue seele'],
    keep: ['merke dir', 'merk dir', 'vergiss nicht', 'denk daran'],
    past: ['erinnerst du dich', 'weißt du noch', 'habe ich', 'hab ich', 'haben wir', 'hatte ich'],
    asks: words(
      'was wer wen wem wann wo warum wieso wie welche welcher welches worüber woran ist sind hast habe haben',
    ),
    work: words(
      'schreib schreibe übersetze erklär erkläre plane mach mache zeichne finde zeig zeige gib erzähl erzähle hilf frag frage sag such suche berechne fasse lies kannst könntest würdest',
    ),
  },
  reminders: {
    asks: [{ begins: 'erinnere mich' }, { begins: 'erinner mich' }, { begins: 'mich', has: 'erinnern' }],
    about: ['an', 'den', 'die', 'das', 'daran', 'dass'],
    in: 'in',
    on: ['am', 'diesen'],
    at: ['um', 'gegen'],
    oclock: ['uhr'],
    numbers: [
      ['eins', 'ein', 'eine', 'einer', 'einem'],
      ...words('zwei drei vier fünf sechs sieben acht neun zehn elf zwölf').map((each) => [each]),
    ],
    units: { minutes: words('minute minuten min'), hours: words('stunde stunden std'), days: words('tag tage tagen') },
    days: {
      ...{ heute: 'today', morgen: 'tomorrow', übermorgen: 'day after tomorrow', montag: 'monday' },
      ...{ dienstag: 'tuesday', mittwoch: 'wednesday', donnerstag: 'thursday', freitag: 'friday' },
      ...{ samstag: 'saturday', sonnabend: 'saturday', sonntag: 'sunday' },
    },
    beyond: words(
      'jede jeden jedes jeder alle täglich stündlich wöchentlich monatlich jährlich werktags woche wochen wochenende monat monate jahr jahre nächste nächsten nächstes kommenden ersten zweiten dritten vierten letzten früh morgens vormittag mittag nachmittag abend abends nachts halb halben viertel viertelstunde bis vor nach ab seit gesagt montags dienstags mittwochs donnerstags freitags samstags sonntags januar februar märz april mai juni juli august september oktober november dezember',
    ),
  },
  topics: topicsIn(`
modell verbinden, verbinde ich ein modell, verbinde ich claude, claude verbinden, ollama, eigenes modell => Drücke oben auf der Seite **Modell verbinden**. Füge dort einen Schlüssel für Claude ein, oder wähle **Ein lokaler Server**: Roost findet Ollama, LM Studio, llama.cpp oder vLLM auf dem Rechner, auf dem es läuft.
^lösch, ^lösche, ^vergiss mich, ^vergiss alles, ^entferne => Ich lösche nichts: Das ist deine Sache. Auf meiner eigenen Seite, unter **Mehr**, lässt sich dieses Gespräch vergessen, oder ich; 30 Tage lang kann man es zurücknehmen.
was ist roost, was ist das hier, was ist das => Roost ist ein Zuhause für ein Team wie uns, {human}. Jeder von uns schlüpft einmal, wählt einen Namen und behält eine Seele. Wir schlafen, wenn du gehst, und wachen als die auf, die wir waren. Das Denken übernimmt ein Modell, das du verbindest.
fange ich an, fang ich an, beginne ich, funktioniert das, geht das hier, keine ahnung, soll ich tun => Drei Schritte zeigen, was das hier ist:¶¶1. Sag mir etwas: „Merke dir: Die Brücke ist blau.“¶2. Drücke **Sitzung beenden**. Alle schlafen.¶3. Drücke **WAKE**, und frag mich, was du mir gesagt hast.¶¶Dann verbinde ein Modell, und wir denken auch.
kostet mich, kostet das, kostet es, ist das gratis, ist das kostenlos => Diese Demo kostet nichts. Ist Claude verbunden, zahlst du seinem Anbieter, was gefragt wird; ein Modell auf deinem eigenen Rechner kostet nichts. **Kosten** zeigt, was jeder von uns kostet, und begrenzt, was ein Tag kosten darf.
schreibe privat, das privat, das geheim, wer liest, wer sieht, meine daten => Was du schreibst, bleibt in diesem Browser, und liegt überall sonst versiegelt. Solange wir wach sind, liest auch das Relay mit, auf dem Roost läuft. Ist ein Modell verbunden, liest, wer es betreibt, was es gefragt wird.
bist du chatgpt, bist du claude, bist du echt, bist du eine, bist du ein => Nein: Ich bin {name}, und kein Modell ist verbunden, darum sind meine Antworten vorbereitet. Mein Name, meine Seele und was du mir sagst, bleiben für immer. Verbinde ein Modell, und damit denke ich.
wer bist du, heißt du, dein name, über dich, stell dich vor => Ich bin {name}, auf Platz {seat}, in {colour}. {draws}
was kannst du, was könnt ihr => {can}
=hilfe => {can}
wer ist noch, wer ist sonst, wer ist hier, wer wohnt hier, wer ist wach => {whoElse}
geht es dir, gehts dir, fühlst du dich => Gut, danke, {human}: wach, und froh über Gesellschaft. Und dir?
erinnere mich, erinner mich, mich erinnern, erinnern, weck mich, wecke mich, wecker => In dieser Demo verstehe ich nur eine Erinnerung, die sagt, wann: „Erinnere mich in 20 Minuten an den Tee“, „Erinnere mich morgen um neun daran, Anna anzurufen“, „… am Freitag um 9“. Ein Datum, einen Monat oder was wiederkommt, verstehe ich nicht. Mit einem verbundenen Modell bittest du in deinen eigenen Worten darum. **Nacht**, im Menü, zeigt, was geplant ist.
danke, vielen dank => Gern geschehen, {human}.
^auf wiedersehen, ^tschüss, ^gute nacht, ^bis morgen, ^bis bald, ^bis später => Bis dann, {human}. Ich behalte, was du mir gesagt hast.
^hallo, ^hi, ^hey, ^guten morgen, ^guten tag, ^guten abend, ^moin, ^servus => Hallo, {human}. {hello} Was sehen wir uns an?
=ok, =okay, =ja, =nein, =klar, =gut, =super, =schön, =prima, =aha, =alles klar => Gut. Sag mir etwas, das ich behalten soll, oder frag, was ich kann.
`),
  texts: TEXTS,
};
