/** What is seen before there is a team. Fetched together, by those who see any of it. */
export { default as WelcomePage } from './welcome.tsx';
export { default as AskedPage } from './asked.tsx';
