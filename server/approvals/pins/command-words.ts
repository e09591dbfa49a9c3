/**
 * Finds the paths that a command may name, parsed as bash parses it. It reports too many rather
 * than too few, and the caller checks which exist. Where only the shell knows a part, the command
 * is `opaque`. Pure.
 */
import { PIN_LIMITS } from './settings.ts';

interface CommandWords {
  /** All words that may name a file or folder. */
  readonly names: readonly string[];
  /** Folders that the command changes into. */
  readonly enters: readonly string[];
  /**
   * The command has parts that only the shell resolves: variables, patterns, another command's
   * output.
   */
  readonly opaque: boolean;
  /** The command runs only programs that read nothing but their arguments. */
  readonly plain: boolean;
}

/** Programs that read no settings, hooks or modules from the folder in which they run. */
const PLAIN = new Set(
  `[ basename cat cd cmp comm cp cut date df diff dirname du echo false file find fold grep head hostname id join ls mkdir mv nl od
  paste printf pwd readlink realpath rm rmdir seq sha1sum sha256sum sleep sort stat tac tail tee test touch tr true uname uniq wc
  whoami`.split(/\s+/),
);
/** Shell keywords before a command. */
const BEFORE_COMMAND = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', 'time']);
/** Shell keywords after which no command begins. */
const KEYWORDS = new Set(['fi', 'done', 'esac', '}', ']]']);
/** Options and commands whose next word is a folder to change into. */
const ENTERS = new Set(['cd', 'pushd', '-C', '--directory', '--prefix', '--cwd', '--dir', '--chdir']);
/** Programs that run an argument as a shell command. */
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'eval']);
/** Options whose next word is a whole command. */
const COMMAND_FOLLOWS = /^-[a-zA-Z]*c$/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z\d_]*\+?=/;
/**
 * Separators within a word that may name several things: `--file=x`, `a:b`, `@x`, `{"script":"x"}`.
 */
const PARTS = /[\s=:,;@()"'`<>{}|&$#!]+/;

interface Word {
  readonly text: string;
  /**
   * `command`: the first word of a command. `argument`: a later one. `written`: a file that it
   * writes to.
   */
  readonly place: 'command' | 'argument' | 'written';
  readonly opaque: boolean;
}

/** Variables with the status of the previous command. They name no file. */
const STATUS = /^\$[?#!]/;

function wordsIn(command: string): { readonly words: readonly Word[]; readonly opaque: boolean } {
  const words: Word[] = [];
  let text = '';
  /** A word has begun, though it may be empty: `''`. */
  let begun = false;
  let isQuoted = false;
  let opaque = false;
  let place: Word['place'] = 'command';
  /** The place of the words after a redirection target. */
  let after: Word['place'] = 'command';
  let whole = true;

  function take(part: string): void {
    text += part;
    begun = true;
  }
  function end(): void {
    if (!begun) return;
    words.push({ text, place, opaque });
    const goesOn = place === 'command' && (BEFORE_COMMAND.has(text) || ASSIGNMENT.test(text));
    place = place === 'written' ? after : goesOn ? 'command' : 'argument';
    text = '';
    begun = false;
    isQuoted = false;
    opaque = false;
  }
  function separate(): void {
    end();
    place = 'command';
  }

  for (let at = 0; at < command.length; at++) {
    const char = command.charAt(at);
    const rest = command.slice(at, at + 3);
    switch (char) {
      case '\\':
        at += 1;
        if (command.charAt(at) !== '\n') take(command.charAt(at));
        break;
      case "'": {
        const close = command.indexOf("'", at + 1);
        if (close < 0) whole = false;
        take(command.slice(at + 1, close < 0 ? undefined : close));
        isQuoted = true;
        at = close < 0 ? command.length : close;
        break;
      }
      case '"': {
        isQuoted = true;
        take('');
        for (at += 1; at < command.length && command.charAt(at) !== '"'; at++) {
          if (command.charAt(at) === '\\') at += 1;
          else if (/[$`]/.test(command.charAt(at)) && !STATUS.test(command.slice(at, at + 2))) opaque = true;
          take(command.charAt(at));
        }
        if (at >= command.length) whole = false;
        break;
      }
      case '$':
      case '`':
        if (!STATUS.test(rest)) opaque = true;
        take(char);
        break;
      case '*':
      case '?':
        // After `$` it is a variable.
        if (!STATUS.test(command.slice(at - 1, at + 1))) opaque = true;
        take(char);
        break;
      case '[':
      case '{':
        // Alone it is a shell keyword, and so is `[[`.
        if (text === '[' ? !/^.(?:\s|$)/.test(rest) : begun || !/^.(?:\s|$|\[\s)/.test(rest)) opaque = true;
        take(char);
        break;
      case '#':
        if (begun) take(char);
        else {
          const close = command.indexOf('\n', at);
          at = close < 0 ? command.length : close - 1;
        }
        break;
      case '<':
        end();
        // A here-document's lines are read by a program, which may be another shell.
        if (rest.startsWith('<<') && rest !== '<<<') whole = false;
        while (/[<&]/.test(command.charAt(at + 1))) at += 1;
        break;
      case '>':
        // The number of a file descriptor: `2>`.
        if (begun && !isQuoted && /^\d+$/.test(text)) {
          text = '';
          begun = false;
        }
        end();
        after = place === 'written' ? after : place;
        place = 'written';
        while (/[>|&]/.test(command.charAt(at + 1))) at += 1;
        break;
      case '&':
        // `&>` redirects. Any other `&` ends a command.
        if (command.charAt(at + 1) !== '>') separate();
        break;
      case ';':
      case '|':
      case '(':
      case ')':
      case '\n':
        separate();
        break;
      case ' ':
      case '\t':
      case '\r':
        end();
        break;
      default:
        take(char);
    }
  }
  end();
  return { words, opaque: !whole };
}

function partsOf(word: string): string[] {
  const parts = word.split(PARTS);
  // `-fbuild.mk`, `-Ilib`
  const short = /^-[A-Za-z](?=[^-])/.test(word) ? [word.slice(2)] : [];
  return [word, ...short, ...(parts.length > 1 ? parts : [])];
}

export function commandWords(command: string, nested = 0): CommandWords {
  const read = wordsIn(command);
  const names: string[] = [];
  const enters: string[] = [];
  let { opaque } = read;
  let plain = true;
  let before = '';
  let program = '';
  const within = (text: string) => {
    if (nested >= PIN_LIMITS.nested) {
      opaque = true;
      return;
    }
    const inner = commandWords(text, nested + 1);
    names.push(...inner.names);
    enters.push(...inner.enters);
    opaque ||= inner.opaque;
    plain &&= inner.plain;
  };
  for (const word of read.words) {
    const { text, place } = word;
    opaque ||= word.opaque;
    if (place === 'command' && !BEFORE_COMMAND.has(text) && !KEYWORDS.has(text)) {
      program = text;
      plain &&= PLAIN.has(text);
    }
    const isCommand = COMMAND_FOLLOWS.test(before) || (program === 'eval' && place === 'argument');
    // The command `.` reads a file. It does not name a folder.
    const isDot = text === '.' && place === 'command';
    if (place !== 'written' && !isDot) {
      if (ENTERS.has(before)) enters.push(text);
      else if (!isCommand || !SHELLS.has(program)) names.push(...partsOf(text));
      if (isCommand) within(text);
    }
    before = text;
  }
  return {
    names: [...new Set(names)].filter((name) => name !== '' && name.length <= PIN_LIMITS.word),
    enters,
    opaque,
    plain,
  };
}
