<?php
/* A theme's only template. With ?sign-in, WordPress is told that somebody has signed in. */
if (isset($_GET['sign-in'])) {
    $user = new WP_User((object) ['ID' => 7, 'user_login' => 'ann', 'user_email' => 'Ann@shop.example']);
    do_action('wp_login', 'ann', $user);
}
?>
<!doctype html>
<html <?php language_attributes(); ?>>
<head>
<title>A shop</title>
<?php wp_head(); ?>
</head>
<body>
<h1>A shop</h1>
<?php readfile(__DIR__ . '/block.html'); ?>
<?php wp_footer(); ?>
</body>
</html>
