/** Cards that need a library for cron texts: fetched together, where there is one of them. */
export { default as WantedReminder } from './reminder.tsx';
export { default as WantedScript } from './script.tsx';
