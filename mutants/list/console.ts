import type { Mutant } from '../mutant.ts';

const changes = 'src/console/event/changes.ts';
const create = 'src/console/user-group/create.ts';
const findOwner = 'src/operations/user-group/find-token-owner.ts';
const form = 'src/console/user-group/form.ts';
const properties = 'src/console/user-group/properties.ts';
const remove = 'src/console/user-group/delete.ts';
const review = 'src/console/user-group/review.ts';
const rotate = 'src/console/user-group/rotate.ts';
const save = 'src/console/user-group/save.ts';
const serve = 'src/console/serve.ts';
const show = 'src/console/user-group/show.ts';
const suspend = 'src/console/user-group/suspend.ts';
const token = 'src/console/user-group/token.ts';

const groupTests = ['test/console/user-group-pages.test.ts'];
const sessionTests = ['test/console/session.test.ts'];
const propertyTests = ['test/console/properties.test.ts'];

export const consolePages: readonly Mutant[] = [
  {
    name: 'console: a save overwrites what was changed in the meantime',
    file: save,
    find: '{ ifMatch: [versionOf(form)] }',
    replace: '{}',
    tests: groupTests,
  },
  {
    name: 'console: a review does not notice another version',
    file: review,
    find: 'versionOf(call.form) !== versionTag(stored)',
    replace: 'false',
    tests: groupTests,
  },
  {
    name: 'console: a review does not check the rules',
    file: review,
    find: 'await checkPolicies(call.context, call.caller, changedFields(stored, fields));',
    replace: '',
    tests: propertyTests,
  },
  {
    name: 'console: fields that are unchanged are written too',
    file: form,
    find: '...(stored.properties !== fields.properties && { properties: fields.properties }),',
    replace: 'properties: fields.properties,',
    tests: propertyTests,
  },
  {
    name: 'console: a rotation that is sent again rotates again',
    file: rotate,
    find: '{ ifMatch: [versionOf(form)] }',
    replace: '{}',
    tests: groupTests,
  },
  {
    name: 'console: a suspension ignores the version',
    file: suspend,
    find: 'await suspendUserGroup(context, caller, id, { ifMatch: [versionOf(form)] });',
    replace: 'await suspendUserGroup(context, caller, id, {});',
    tests: groupTests,
  },
  {
    name: 'console: any id confirms a deletion',
    file: remove,
    find: "form.text('user_group_id') !== id",
    replace: "form.text('user_group_id') === ''",
    tests: groupTests,
  },
  {
    name: 'console: a deletion ignores the version',
    file: remove,
    find: '{ ifMatch: [versionOf(form)] }',
    replace: '{}',
    tests: groupTests,
  },
  {
    name: 'console: creating a group that exists leads to it as if it were new',
    file: create,
    find: "{ ifNoneMatch: '*' }",
    replace: '{}',
    tests: groupTests,
  },
  {
    name: 'console: readers may see tokens',
    file: token,
    find: 'permissions: WRITERS',
    replace: "permissions: ['read-write', 'read-only']",
    tests: groupTests,
  },
  {
    name: 'console: readers see the actions',
    file: show,
    find: 'if (!isPermitted(caller, WRITERS)) return html',
    replace: 'if (caller === null) return html',
    tests: groupTests,
  },
  {
    name: 'console: the owner of a token is found in any workspace and environment',
    file: findOwner,
    find: ' || !isVisible(found.userGroup, caller)',
    replace: '',
    tests: groupTests,
  },
  {
    name: 'console: a token in its grace period is shown as dead',
    file: findOwner,
    find: '> context.clock()',
    replace: '< context.clock()',
    tests: groupTests,
  },
  {
    name: 'console: members of properties change their order',
    file: properties,
    find: '...before.filter((key) => typed.has(key)), ',
    replace: '',
    tests: propertyTests,
  },
  {
    name: 'console: an input drops the line breaks of a stored text',
    file: properties,
    find: ' || CONTROL.test(text)',
    replace: '',
    tests: propertyTests,
  },
  {
    name: 'console: a member is typed twice, and one of them is lost',
    file: properties,
    find: 'if (typed.has(key)) faults.push(inOther(key));',
    replace: '',
    tests: propertyTests,
  },
  {
    name: 'console: no properties and an empty object are the same',
    file: properties,
    find: "(other.size === 0 && properties !== '{}')",
    replace: 'other.size === 0',
    tests: propertyTests,
  },
  {
    name: 'console: members called "from" and "to" are taken for values',
    file: changes,
    find: '!(value instanceof JsonObject) || value.members.size === 0',
    replace: 'value !== undefined',
    tests: ['test/console/event-pages.test.ts'],
  },
  {
    name: 'console: a token in an address is repeated on the page',
    file: serve,
    find: 'if (hasToken(query)) return redirect(reply, TOKEN_IN_ADDRESS);',
    replace: '',
    tests: sessionTests,
  },
  {
    name: 'console: a form needs no token of its session',
    file: serve,
    find: "if (request.method === 'POST') refuseForgery(form, session);",
    replace: '',
    tests: sessionTests,
  },
  {
    name: 'console: a session never expires',
    file: 'src/console/session.ts',
    find: 'age < 0 || age >= MAX_AGE_SECONDS * 1_000',
    replace: 'age < 0',
    tests: sessionTests,
  },
  {
    name: 'console: over HTTPS, a cookie that a sibling domain can plant is a session',
    file: 'src/console/session.ts',
    find: 'isSecure ? [SECURE_NAME] : [SECURE_NAME, NAME]',
    replace: '[SECURE_NAME, NAME]',
    tests: sessionTests,
  },
  {
    name: 'console: signing in leads to another site',
    file: 'src/console/sign-in.ts',
    find: "url.host !== 'console' || ",
    replace: '',
    tests: sessionTests,
  },
  {
    name: 'console: another site signs a person in',
    file: 'src/console/sign-in.ts',
    find: '      refuseOtherSites(request);\n',
    replace: '',
    tests: sessionTests,
  },
  {
    name: 'console: errors are JSON',
    file: 'src/http/protocol.ts',
    find: "CONSOLE.test(url) ? 'console' : routeOptions.config?.protocol",
    replace: 'routeOptions.config?.protocol',
    tests: sessionTests,
  },
  {
    name: 'console: forms are as small as bodies of the API',
    file: serve,
    find: 'const MAX_FORM_BYTES = 8 * limits.bodyBytes;',
    replace: 'const MAX_FORM_BYTES = limits.bodyBytes;',
    tests: groupTests,
  },
];
