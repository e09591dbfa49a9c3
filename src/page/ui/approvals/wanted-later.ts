/** Cards that need the library for cron texts. They are loaded together on first use. */
export { default as WantedReminder } from './reminder.tsx';
export { default as WantedScript } from './script.tsx';
