/** Every limit and default of ACP agents; times in ms. */
export const PROGRAM_LIMITS = {
  /** Of one household. */
  programs: 12,
  /** Bytes of memory that must be free for one more to be started beside another. */
  freeBytes: 500_000_000,
  /** Until it has said hello and opened its session. */
  startMs: 60_000,
  /**
   * A session that ended no longer ago is gone on with; and until it is, before a new one is begun
   * instead.
   */
  resumeWithinMs: 86_400_000,
  resumeMs: 20_000,
  /** In a turn without any word of it; what waits for the person does not count. */
  silentMs: 600_000,
  /** Between asking it to stop its turn, or to end, and ending it. */
  cancelMs: 5_000,
  endMs: 2_000,
  /**
   * Bytes of one message of it, levels and values of its JSON; messages and bytes within
   * `windowMs`.
   */
  messageBytes: 6_000_000,
  jsonDepth: 100,
  jsonValues: 20_000,
  /** Values of one message that are checked, beside what a tool was given and gave back. */
  checkedValues: 500,
  windowMs: 1_000,
  windowMessages: 5_000,
  windowBytes: 40_000_000,
  /** Lines of it that are no messages before it is taken not to speak the protocol. */
  nonsenseLines: 50,
  /**
   * Of one turn: characters of its words that are heard, and of its calls before each is shown more
   * briefly; calls of tools that are shown, questions that may be open at once.
   */
  turnChars: 1_000_000,
  turnTools: 1_000,
  openQuestions: 5,
  /** Characters of what is shown of one call, and of its title. */
  toolChars: 30_000,
  /** The same of one call of a long turn. */
  briefChars: 600,
  titleChars: 500,
  /**
   * Of settings in an agent's folder: entries of one folder of them, bytes of one file, characters
   * of one that is shown whole; and entries of a repository in which others are looked for.
   */
  settingsEntries: 500,
  settingsBytes: 1_000_000,
  settingsShown: 10_000,
  repositoryEntries: 20_000,
  /** Bytes of a file that it has Roost read; files that it has Roost read or write at once. */
  fileBytes: 5_000_000,
  filesAtOnce: 4,
  /** Characters of its words that are passed on at once. */
  stepChars: 32_768,
  /** Characters of the end of what it wrote to its errors, for the person. */
  errorChars: 500,
} as const;

export type ProgramLimits = Readonly<Record<keyof typeof PROGRAM_LIMITS, number>>;

/**
 * Requests to a model that nobody asked for, switched off unless the person says otherwise: Claude
 * Code's guess at what they say next.
 */
export const UNASKED = { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false' } as const;

/**
 * Gemini CLI hands no tools to a session in a folder that it was not told to trust. What lies there
 * was shown to the person before.
 */
export const TRUSTS = { GEMINI_CLI_TRUST_WORKSPACE: 'true' } as const;

/**
 * Programs, by what they call themselves, that make no new file where they are told that there is
 * none: they are told that it is empty. Gemini CLI takes the protocol's error for its own (0.61,
 * packages/cli/src/acp/acpFileSystemService.ts).
 */
export const READS_NONE_AS_EMPTY = /gemini/i;

/**
 * opencode changes files and runs commands without asking where its settings say nothing of it.
 * This goes before them, also before those in the agent's folder
 * (https://opencode.ai/docs/permissions).
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
 * Modes in which a program asks the person before it acts, the best first, by what it calls itself.
 * Codex begins in one in which a model decides instead
 * (https://github.com/agentclientprotocol/codex-acp, src/AgentMode.ts; `auto` is that of the older
 * adapter, https://github.com/zed-industries/codex-acp). Claude Code, Gemini CLI and whatever is
 * not known: `default`.
 */
export const ASKING_MODES: readonly { readonly of: RegExp; readonly modes: readonly string[] }[] = [
  { of: /codex/i, modes: ['workspace-write', 'auto', 'read-only'] },
  { of: /(?:)/, modes: ['default'] },
];

/** Agents that are known to speak the protocol, by the command that starts them so. */
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
