/** What an error says; of what was thrown and is none, its text. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
