/** Limits and defaults of ACP agents. Times in ms. */
export const PROGRAM_LIMITS = {
  /** Per household. */
  programs: 12,
  /** Bytes of memory that must be free to start another process beside a running one. */
  freeBytes: 500_000_000,
  /** Time to answer `initialize` and to open a session. */
  startMs: 60_000,
  /** The same where the program must be fetched first, as by `npx`. */
  fetchedStartMs: 300_000,
  /**
   * Age up to which an ended session is resumed; and the time for resuming before a new session
   * begins instead.
   */
  resumeWithinMs: 86_400_000,
  resumeMs: 20_000,
  /** Longest silence in a turn. Waiting for the person or for a tool of Roost's does not count. */
  silentMs: 600_000,
  /** Between asking a process to stop its turn, or to end, and ending it. */
  cancelMs: 5_000,
  endMs: 2_000,
  /**
   * Bytes of one message, depth and number of values of its JSON; messages and bytes within
   * `windowMs`.
   */
  messageBytes: 6_000_000,
  jsonDepth: 100,
  jsonValues: 20_000,
  /** Values of one message that are checked, without a tool's input and output. */
  checkedValues: 500,
  windowMs: 1_000,
  windowMessages: 5_000,
  windowBytes: 40_000_000,
  /** Lines that are not messages, after which the program counts as not speaking the protocol. */
  nonsenseLines: 50,
  /**
   * Per turn: characters of text, and of calls before each is shown more briefly; tool calls that
   * are shown, and questions that may be open at once.
   */
  turnChars: 1_000_000,
  turnTools: 1_000,
  openQuestions: 5,
  /** Characters shown of one call, and of its title. */
  toolChars: 30_000,
  /** Characters shown of one call in a long turn. */
  briefChars: 600,
  titleChars: 500,
  /**
   * Settings in an agent's folder: entries of one settings folder, bytes of one file, characters of
   * one that is shown in full; and entries of a repository that is searched for more.
   */
  settingsEntries: 500,
  settingsBytes: 1_000_000,
  settingsShown: 10_000,
  repositoryEntries: 20_000,
  /** Bytes of a file that is read through Roost; concurrent reads and writes through Roost. */
  fileBytes: 5_000_000,
  filesAtOnce: 4,
  /** Characters of text that are passed on at once. */
  stepChars: 32_768,
  /** Characters of the end of the error output, for the person. */
  errorChars: 500,
} as const;

export type ProgramLimits = Readonly<Record<keyof typeof PROGRAM_LIMITS, number>>;

/**
 * Turns off model requests that nobody asked for, unless the person says otherwise: Claude Code
 * guesses the person's next message.
 */
export const UNASKED = { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false' } as const;

/**
 * Gemini CLI gives no tools to a session in an untrusted folder. The person has reviewed the
 * folder's settings before.
 */
export const TRUSTS = { GEMINI_CLI_TRUST_WORKSPACE: 'true' } as const;

/**
 * Programs, by their own name, that do not create a file after the error for a missing one. They
 * receive an empty file instead. Gemini CLI takes the protocol's error for its own (0.61,
 * packages/cli/src/acp/acpFileSystemService.ts).
 */
export const READS_NONE_AS_EMPTY = /gemini/i;

/**
 * opencode changes files and runs commands without asking unless its settings forbid it. This
 * variable overrides them, also those in the agent's folder (https://opencode.ai/docs/permissions).
 */
export const ASKS = {
  OPENCODE_PERMISSION: JSON.stringify({
    edit: 'ask',
    bash: 'ask',
    webfetch: 'ask',
    websearch: 'ask',
    external_directory: 'ask',
  }),
} as const;

/**
 * Modes in which a program asks the person before it acts, best first, by the program's own name.
 * Codex begins in one in which a model decides instead
 * (https://github.com/agentclientprotocol/codex-acp, src/AgentMode.ts; `auto` is that of the older
 * adapter, https://github.com/zed-industries/codex-acp). For Claude Code, Gemini CLI and unknown
 * programs: `default`.
 */
export const ASKING_MODES: readonly { readonly of: RegExp; readonly modes: readonly string[] }[] = [
  { of: /codex/i, modes: ['workspace-write', 'auto', 'read-only'] },
  { of: /(?:)/, modes: ['default'] },
];

/** Known ACP agents, with the command that starts each. */
export const KNOWN_AGENTS: readonly {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}[] = [
  { name: 'Claude Code', command: 'claude-agent-acp', args: [] },
  { name: 'Claude Code (older adapter)', command: 'claude-code-acp', args: [] },
  { name: 'Codex', command: 'codex-acp', args: [] },
  { name: 'Gemini CLI', command: 'gemini', args: ['--experimental-acp'] },
  { name: 'Goose', command: 'goose', args: ['acp'] },
  { name: 'OpenCode', command: 'opencode', args: ['acp'] },
];
