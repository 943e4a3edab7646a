<?php
/* WordPress's index.php and wp-config.php, for PHP's own web server: every request is for a page. */
define('WP_USE_THEMES', true);
define('ABSPATH', __DIR__ . '/');
define('WP_HOME', 'http://' . $_SERVER['HTTP_HOST']);
define('WP_SITEURL', WP_HOME);
define('DISABLE_WP_CRON', true);
define('WP_DEBUG', true);
foreach (['DB_NAME', 'DB_USER', 'DB_PASSWORD', 'DB_HOST'] as $name) {
    define($name, '');
}
define('FIRSTHAND_URL', getenv('FIRSTHAND_URL'));
define('FIRSTHAND_SERVER_TOKEN', getenv('SERVER_TOKEN'));
$table_prefix = 'wp_';
require ABSPATH . 'wp-settings.php';
wp();
require ABSPATH . WPINC . '/template-loader.php';
